"""`blast` as text: the impact, what may be drained, the affected hosts."""

from collections.abc import Iterator
from itertools import groupby

from rich.console import RenderableType
from rich.text import Text

from truerail.files.nodesets import fold
from truerail.outputs.options import Options
from truerail.outputs.report_words import count, name, sentence
from truerail.outputs.text.blocks import hanging, heading
from truerail.outputs.text.style import PORT
from truerail.questions.blast import Blast
from truerail.questions.text.pieces import MOST_LINES, more, rows


def blast_text(answer: Blast, options: Options) -> Iterator[RenderableType]:
    """What may be drained, the figures, and the affected hosts, grouped by equal loss."""
    yield hanging("do", Text(sentence(answer.drain), style="bold"), indent=2)
    yield Text()
    yield rows(_figures(answer))
    groups = [
        (fold([one.host for one in alike]), key)
        for key, found in groupby(answer.hosts, key=lambda one: (one.rails, one.gpus, one.share_lost))
        if (alike := list(found))
    ]
    if groups:
        yield heading("Hosts that lose bandwidth")
    shown = groups if options.details else groups[:MOST_LINES]
    for hosts, (_, gpus, share) in shown:
        lost = f"{share:.1%} of its bandwidth, GPU {', '.join(map(str, gpus)) or 'none'}"
        yield hanging("", Text(f"{name(hosts)}: {lost}"))
    yield from more(len(groups) - len(shown), "groups of hosts")
    yield from _jobs(answer, options)


def _jobs(answer: Blast, options: Options) -> Iterator[RenderableType]:
    if answer.jobs:
        yield heading("Jobs that run there", "" if answer.jobs_affected is not None else "as last reported")
    shown = answer.jobs if options.details else answer.jobs[:MOST_LINES]
    for job in shown:
        title = Text().append(name(job.key), style=PORT).append(f"  {name(job.name)}" * bool(job.name))
        user = f" of {name(job.user)}" if job.user else ""
        hosts = f"{job.hosts_affected:,} of its {count(job.hosts_total, 'host')} ({name(job.hosts)})"
        yield hanging("", title.append(f"{user}: {hosts}"))
    yield from more((answer.jobs_affected or len(answer.jobs)) - len(shown), "jobs")


def _figures(answer: Blast) -> Iterator[tuple[str, RenderableType | str]]:
    now = {True: "down now", False: "up now", None: "state unknown"}
    yield "state", f"{name(answer.matched_type)}, {now[answer.down_now]}"
    gpus = f"{answer.gpus_affected:,} of their {count(answer.gpus_of_hosts, 'GPU')}"
    yield "affected", f"{count(answer.hosts_affected, 'host')}, {gpus}"
    yield "bandwidth", f"{answer.share_lost:.1%} lost, {1 - answer.share_lost:.1%} remains"
    if answer.uplink_share_lost:
        yield "uplinks", f"{answer.uplink_share_lost:.1%} lost, {1 - answer.uplink_share_lost:.1%} remains"
    if answer.jobs_affected is not None or answer.jobs:
        yield "jobs", f"{answer.jobs_affected:,} running" if answer.jobs_affected is not None else "unknown"
    if answer.pairs_cut:
        yield "cut", f"{count(answer.pairs_cut, 'pair')} of hosts, counted on each rail"
