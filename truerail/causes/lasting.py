"""Causes of load that last: one is replaced only by another with more evidence over a window.

Loads scatter from window to window, so a rule on them may be silent in a round although nothing has changed, and what
it explained would be other causes for that round. So the findings on which a published cause of load rests stay, as
they were last found, while its symptoms are found and none of the causes that would take them has had as much evidence
since; or while a rule of load cannot say that the place is fine. A rule that outranks the cause replaces it at once. A
cause without symptoms is not shown, and is the first to be thought of where they come back within the window.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from truerail.analysis.round import Round
from truerail.causes.explain import explain
from truerail.causes.telemetry.precedence import ROWS
from truerail.model.finding import Cause, Finding, Lasting, Verdict
from truerail.model.life import Maintained

_RANKS = {rule: rank for rank, rule in enumerate(ROWS)}
_LOAD = range(_RANKS["PRB004"], _RANKS["RAL002"])
"""The ranks of load: beyond physical state, a storm and configuration, before a host's statistics."""
LAST_FOUND = "last_found"
"""The field of a finding's detail that says when the rule last found it, where it is held."""


def explain_lasting(
    round: Round, findings: Sequence[Finding], verdicts: Sequence[Verdict], work: Sequence[Maintained] = ()
) -> tuple[tuple[Finding, ...], tuple[Cause, ...], Lasting]:
    """The findings with those that last, their causes, and what the next round needs to know of them."""
    causes, present = explain(round, findings, work), {finding.id: finding for finding in findings}
    before = round.lasting.later(round.snapshot.at, [cause for cause in causes if _rests_on(cause, present)])
    keys, unclear = {cause.key for cause in causes}, _unclear(verdicts)
    kept = {key: own for key, own in before.published.items() if key not in keys and key in before.found}
    gone, shown, found = kept, causes, tuple(findings)
    while gone:
        held = {one.id: _held(one, before.last(key)) for key, own in gone.items() for one in own}
        found = tuple({**held, **present}.values())
        shown = explain(round, found, work)
        lasts = {key: _lasts(key, own, (causes, shown), present, unclear, before) for key, own in gone.items()}
        kept = {key: own for key, own in kept.items() if lasts.get(key) is not False}
        if all(lasts.values()):
            break
        gone = {key: own for key, own in gone.items() if lasts[key]}
    if not gone:
        shown, found = causes, tuple(findings)
    at_hand = {one.id: one for one in found}
    published = {cause.key: own for cause in shown if (own := _rests_on(cause, at_hand))}
    return found, shown, replace(before, published={**kept, **published})


def _rests_on(cause: Cause, findings: Mapping[str, Finding]) -> tuple[Finding, ...]:
    """The findings that a cause of load begins with; none of any other cause."""
    own = [findings[key] for key in cause.explains if findings[key].rule in _RANKS]
    first = min((one.rule for one in own), key=_RANKS.__getitem__, default="")
    return tuple(one for one in own if one.rule == first) if _RANKS.get(first) in _LOAD else ()


def _unclear(verdicts: Iterable[Verdict]) -> frozenset[str]:
    """Devices and ports that a rule of load could not evaluate."""
    parts = (part for one in verdicts if _RANKS.get(one.rule) in _LOAD for part in one.not_evaluated)
    return frozenset(subject for part in parts for subject in part.subjects)


def _lasts(
    key: str, own: Iterable[Finding], explained: tuple[Iterable[Cause], Iterable[Cause]],
    present: Collection[str], unclear: Collection[str], before: Lasting,
) -> bool | None:  # fmt: skip
    """Whether a cause that this round did not find lasts: it has symptoms, or may still be there, and the causes that
    would take its symptoms weigh less. None without symptoms: it does not show, and may come back. `explained` are the
    causes without what is held, and with it.
    """
    plain, shown = explained
    symptoms = [cause.explains for cause in shown if cause.key == key]
    if not symptoms:
        return False
    taken = {found for found in symptoms[0] if found in present}
    if not taken and not any(one.subject in unclear for one in own):
        return None
    return before.outweighs(key, (cause.key for cause in plain if not taken.isdisjoint(cause.explains)))


def _held(finding: Finding, at: datetime) -> Finding:
    """A finding that says when it was last found."""
    known = any(name == LAST_FOUND for name, _ in finding.detail)
    return finding if known else replace(finding, detail=(*finding.detail, (LAST_FOUND, at.isoformat())))
