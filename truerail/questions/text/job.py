"""`job` as text: the rails, the hosts with faults, the causes."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from truerail.files.nodesets import fold
from truerail.outputs.options import Options
from truerail.outputs.report_words import count, name, sentence
from truerail.outputs.text.blocks import hanging, heading
from truerail.outputs.text.style import PORT, QUIET
from truerail.questions.answers.subjects import rail_words
from truerail.questions.job import Job, JobHost
from truerail.questions.text.jobs import run_lines
from truerail.questions.text.pieces import MOST_LINES, cause, more, to_do


def job_text(answer: Job, options: Options) -> Iterator[RenderableType]:
    """What to do, the pairs, every rail, the worst hosts, the causes."""
    yield from to_do(answer.action)
    if answer.run is not None:
        yield from run_lines(answer.run)
    if answer.not_in_plan:
        yield hanging("?", Text(f"not in the plan: {name(fold(answer.not_in_plan))}", style="bold magenta"))
    yield from _pairs(answer)
    yield from _rails(answer)
    shown = answer.worst if options.details else answer.worst[:MOST_LINES]
    if shown:
        yield heading("Hosts with lost or unknown rails", "worst first")
    for host in shown:
        yield _host(host)
    yield from more(len(answer.worst) - len(shown), "hosts")
    if answer.causes:
        yield heading("Causes")
    for line in answer.causes[:MOST_LINES]:
        yield from cause(line)
    yield from more(len(answer.causes) - MOST_LINES, "causes")


def _pairs(answer: Job) -> Iterator[RenderableType]:
    pairs = answer.pairs
    if not pairs.total:
        return
    words = [f"{pairs.same_rail:,} within the rail"]
    words += [f"{pairs.rerouted:,} rerouted"] * bool(pairs.rerouted)
    words += [f"{pairs.cut:,} cut"] * bool(pairs.cut) + [f"{pairs.unknown:,} unknown"] * bool(pairs.unknown)
    hosts = f"{count(len(answer.hosts), 'host')}, {count(len(answer.rails), 'rail')}"
    reported = f"{hosts}, {count(pairs.total, 'pair')} counted on each rail: {', '.join(words)}"
    yield hanging("", Text(reported, style=QUIET), indent=1)


def _rails(answer: Job) -> Iterator[RenderableType]:
    whole = [rail for rail in answer.rails if rail.connected == rail.hosts]
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for rail in answer.rails:
        if rail.connected != rail.hosts:
            grid.add_row(Text(f"  {_word(rail.rail)}", style="bold"), sentence(rail.summary))
    yield heading("Rails")
    if len(whole) < len(answer.rails):
        yield grid
    if whole:
        named = rail_words(rail.rail for rail in whole if rail.rail is not None) or count(len(whole), "rail")
        yield Text(f"  {named} connected", style="green")


def _word(rail: int | None) -> str:
    return "no rail" if rail is None else f"rail {rail}"


def _host(host: JobHost) -> RenderableType:
    return hanging(Text(name(host.host), style=PORT), Text(sentence(host.summary)))
