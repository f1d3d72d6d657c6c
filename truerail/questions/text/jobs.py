"""`jobs` as text: a row for each job, what hurts it below."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from truerail.outputs.options import Options
from truerail.outputs.report_words import count, name, sentence
from truerail.outputs.text.blocks import hanging
from truerail.outputs.text.style import PORT, QUIET
from truerail.questions.jobs import JobHarm, JobRun, Jobs
from truerail.questions.text.pieces import MOST_LINES, more, to_do, when


def jobs_text(answer: Jobs, options: Options) -> Iterator[RenderableType]:
    """What to do, then the jobs, worst first."""
    yield from to_do(answer.action)
    shown = answer.jobs if options.details else answer.jobs[:MOST_LINES]
    for run in shown:
        yield from run_lines(run)
    yield from more(answer.running + answer.ended - len(shown), "jobs")


def run_lines(run: JobRun) -> Iterator[RenderableType]:
    """A job on one line, and a line for each cause that hurts it."""
    title = Text().append(name(run.key), style=PORT)
    title.append(f"  {name(run.name)}" if run.name else "").append(f"  {name(run.hosts or 'no host of the plan')}")
    about = [f"of {name(run.user)}"] if run.user else []
    about += ["GPUs unknown" if run.gpus is None else count(run.gpus, "GPU")]
    about += [f"since {when(run.start)}"] if run.start else []
    about += [f"ended {when(run.ended)}"] if run.ended else []
    about += [name(run.scheduler)]
    about += [run.unseen] if run.unseen else []
    about += [f"as of {when(run.as_of)}"] if run.stale and run.as_of else []
    yield hanging(_mark(run), title.append(f"  {', '.join(about)}", style=QUIET))
    for found in run.findings:
        yield hanging("", Text(sentence(found)), indent=4)
    for harm in run.harm:
        yield hanging("", Text(_harm(harm)), indent=4)


def _mark(run: JobRun) -> str:
    if run.hurt:
        return "!"
    return "?" if run.unseen else "-"


def _harm(harm: JobHarm) -> str:
    parts = [f"{name(harm.id)} {name(harm.kind)} hurts {count(harm.hosts_hurt, 'host')} ({name(harm.hosts)})"]
    parts += [f"since {when(harm.since)}"] if harm.since else []
    if harm.gpu_hours is not None and harm.waiting_hours is not None:
        parts.append(f"{harm.gpu_hours:,.1f} GPU-hours hurt, {harm.waiting_hours:,.1f} waiting")
    return f"{', '.join(parts)}: {sentence(harm.summary)}"
