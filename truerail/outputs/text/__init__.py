"""The report for a terminal: what to do first, then the picture, then what could not be evaluated."""

import io
from collections.abc import Iterable, Iterator

from rich.console import Console, RenderableType
from rich.text import Text

from truerail.files.nodesets import fold
from truerail.model import Evaluation, Evidence, Finding, Severity
from truerail.model.columns import grouped
from truerail.outputs.options import Options
from truerail.outputs.report_json import sorted_findings
from truerail.outputs.report_words import INFERRED, count, headline, misfit, name, sentence, sure, title
from truerail.outputs.text.blocks import PORT, QUIET, SEVERITY_STYLES, TONE_MARKS, Verbatim, hanging, heading, left_out
from truerail.outputs.text.causes import what_to_do
from truerail.outputs.text.picture import picture
from truerail.outputs.unevaluated import NotEvaluated, Unread, doubts, rule_name

NARROWEST = 40
MOST_LOOSE = 25
_PLAIN = str.maketrans({"→": "->", "·": ".", "✗": "x", "○": "o", "✓": "ok", "…": "...", "─": "-", "–": "-"})


def render_text(evaluation: Evaluation, options: Options) -> str:
    """The text report, at most `options.width` columns wide (40 at least), lines without trailing blanks."""
    return drawn(_blocks(evaluation, options), options)


def drawn(blocks: Iterable[RenderableType], options: Options) -> str:
    """Blocks one below the other as text, at most `options.width` columns wide (40 at least); lines to copy are not
    broken. For a terminal or file that takes ASCII only, characters without an equivalent become `?`.
    """
    console = Console(
        file=io.StringIO(),
        width=max(options.width, NARROWEST),
        force_terminal=options.color,
        color_system="standard" if options.color else None,
        no_color=not options.color,
        legacy_windows=False,
        markup=False,
        highlight=False,
        emoji=False,
    )
    with console.capture() as captured:
        for block in blocks:
            console.print(block, soft_wrap=isinstance(block, Verbatim))
    text = "\n".join(line.rstrip() for line in captured.get().split("\n"))
    return text.translate(_PLAIN).encode("ascii", "replace").decode("ascii") if options.ascii else text


def _blocks(evaluation: Evaluation, options: Options) -> Iterator[RenderableType]:
    yield from _opening(evaluation)
    yield from what_to_do(evaluation, options)
    yield from without_cause(evaluation, options)
    yield from picture(evaluation, options)
    yield from not_evaluated(evaluation, options)
    yield from findings(evaluation, options)
    yield from notes(evaluation)


def _opening(evaluation: Evaluation) -> Iterator[RenderableType]:
    """The subject line and the verdict."""
    summary = evaluation.summary
    at = evaluation.at.strftime("%Y-%m-%d %H:%M:%S %Z").strip()
    hosts = f"{summary.hosts_read:,} of {count(summary.hosts, 'host')} read"
    yield Text(f"{title(evaluation.plan)}, {at}, {hosts}", style=QUIET)
    if evaluation.plan.inferred:
        yield hanging("", Text(INFERRED, style="bold magenta"), indent=0)
    yield Text()
    verdict = headline(evaluation)
    mark, style = TONE_MARKS[verdict.tone]
    yield hanging(Text(mark, style), Text(verdict.cables, style), indent=0)
    if verdict.repair:
        yield hanging(" ", Text(verdict.repair), indent=0)
    if doubt := misfit(evaluation):
        yield hanging("?", Text(doubt, style="bold magenta"), indent=0)


# ----------------------------------------------------------------------------------------------------------------------
# The findings one by one with their evidence on request; their number always.


def without_cause(evaluation: Evaluation, options: Options) -> Iterator[RenderableType]:
    """A line for each device and rule: its first finding that no cause explains, and how many are like it."""
    cause_of = evaluation.cause_of
    loose = [f for f in sorted_findings(evaluation) if f.id not in cause_of and f.severity is not Severity.INFO]
    if not loose:
        return
    yield heading("Without a common cause", count(len(loose), "finding"))
    lines = grouped(((finding.subject.partition("/")[0], finding.rule), finding) for finding in loose)
    for (device, _), alike in [*lines.items()][: len(lines) if options.details else MOST_LOOSE]:
        line = Text().append(name(device), style=PORT).append(f"  {sentence(alike[0].summary)}", style="not dim")
        line.append(f", and {len(alike) - 1:,} more like it" if len(alike) > 1 else "", style=QUIET)
        yield hanging(Text("!", SEVERITY_STYLES[alike[0].severity]), line)
    if len(lines) > MOST_LOOSE and not options.details:
        yield left_out(len(lines) - MOST_LOOSE, "devices", options.next_step)


def findings(evaluation: Evaluation, options: Options) -> Iterator[RenderableType]:
    """Every finding with `--details`, else one line that says how to see them."""
    if not evaluation.findings:
        return
    if not options.details:
        reported = Text(f"{count(len(evaluation.findings), 'finding')} with evidence: add --details", style=QUIET)
        yield Text("\n").append_text(reported)
        return
    yield heading("Findings", f"{len(evaluation.findings):,}")
    cause_of = evaluation.cause_of
    for finding in sorted_findings(evaluation):
        yield Text()
        yield from _finding(finding, cause_of.get(finding.id, ""))


def _finding(finding: Finding, cause: str) -> Iterator[RenderableType]:
    title = Text().append(finding.severity.value, style=SEVERITY_STYLES[finding.severity])
    title.append(f" {finding.rule} {finding.name} ", style="bold").append(name(finding.subject), style=PORT)
    aside = f"  {finding.id}, {sure(finding.confidence)} sure" + (f", cause {cause}" if cause else "")
    yield hanging("", title.append(aside, style=QUIET), indent=0)
    yield hanging("", Text(sentence(finding.summary)), indent=2)
    if finding.expected or finding.observed:
        yield hanging("", _difference(finding), indent=2)
    if finding.action:
        yield hanging("do", Text(sentence(finding.action), style="bold"), indent=3)
    for evidence in finding.evidence:
        yield hanging("as", _evidence(evidence), indent=3)


def _difference(finding: Finding) -> Text:
    line = Text().append("expected ", style=QUIET).append(name(finding.expected or "nothing"), style=PORT)
    return line.append(", observed ").append(name(finding.observed or "nothing"), style=PORT)


def _evidence(evidence: Evidence) -> Text:
    reported = evidence.as_dict()
    facts = ", ".join(f"{key} {sentence(_shown(value))}" for key, value in reported["fact"].items())
    line = Text().append(
        f"{name(evidence.device)} reports ({name(evidence.collector)}, {evidence.at:%H:%M:%S}): ", style=QUIET
    )
    return line.append(f"{reported['kind']} {facts}")


def _shown(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)


# ----------------------------------------------------------------------------------------------------------------------
# What could not be evaluated, and notes for the reader.

MOST_ERRORS = 10


def not_evaluated(evaluation: Evaluation, options: Options) -> Iterator[RenderableType]:
    """Everything that limits the verdict; empty if nothing does."""
    found = doubts(evaluation)
    if not found:
        return
    yield heading("Could not be evaluated")
    if found.cables:
        yield _line(f"{count(found.cables, 'planned cable')}: neither end could be read, or the ends do not decide")
    yield from _unread(found.unread, options)
    lacking = [one for one in found.unknown if one.missing and not one.failing and not options.details]
    if len(lacking) > 1:
        yield _line(f"no answer has what these rules read: {', '.join(map(_lacking, lacking))}")
    for not_evaluated in found.unknown:
        if len(lacking) > 1 and not_evaluated in lacking:
            continue
        yield _line(f"{_rules(not_evaluated.rules)}{_failing(not_evaluated)}: {sentence(not_evaluated.why)}")
    for verdict in found.broken:
        yield _line(f"{_rules((verdict.rule,))} failed inside: {sentence(verdict.error)}")


def _unread(unread: tuple[Unread, ...], options: Options) -> Iterator[RenderableType]:
    shown = unread if options.details else unread[:MOST_ERRORS]
    for group in shown:
        line = Text().append(name(fold(group.devices)), style=PORT)
        line.append(f" {', '.join(map(name, group.collectors))}: ", style=QUIET)
        yield hanging("?", line.append(sentence(group.error)))
    if hidden := len(unread) - len(shown):
        yield left_out(hidden, "kinds of unread answers", options.next_step)


def _lacking(group: NotEvaluated) -> str:
    return f"{sentence(group.missing)} ({', '.join(group.rules)})"


def _rules(codes: tuple[str, ...]) -> str:
    if len(codes) > 1:
        return f"rules {', '.join(codes)}"
    return " ".join(dict.fromkeys(("rule", *codes, *map(rule_name, codes))))


def _failing(not_evaluated: NotEvaluated) -> str:
    """Which of the rules have findings in the part that they could evaluate."""
    if not not_evaluated.failing:
        return ""
    if not_evaluated.failing == not_evaluated.rules:
        return " (it also has findings)" if len(not_evaluated.rules) == 1 else " (all also have findings)"
    return f" ({', '.join(not_evaluated.failing)} also {'has' if len(not_evaluated.failing) == 1 else 'have'} findings)"


def _line(words: str) -> RenderableType:
    return hanging("?", Text(words))


def notes(evaluation: Evaluation) -> Iterator[RenderableType]:
    """The evaluation's notes."""
    if evaluation.notes:
        yield heading("Notes")
        for note in evaluation.notes:
            yield hanging("-", Text(sentence(note)))
