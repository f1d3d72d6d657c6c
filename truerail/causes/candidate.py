"""A candidate cause: its cables and devices, before findings are attached and ids given."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from truerail.model.cause_kinds import CAUSE_KINDS, CauseKind
from truerail.model.finding import Alternative, Cause, Finding, Move, Rename
from truerail.model.index import PlanIndex
from truerail.model.names import natural_key


@dataclass
class CauseCandidate:
    """One cause before it has an id. `cables` are cable numbers, `devices` names whose findings it also explains."""

    kind: CauseKind
    subjects: tuple[str, ...]
    summary: str
    action: str
    cables: Sequence[int] = ()
    devices: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    """Prefixes of the rule codes that such a cause can explain."""
    moves: tuple[Move, ...] = ()
    renames: tuple[Rename, ...] = ()
    confidence: float = 1.0
    alternatives: tuple[Alternative, ...] = ()
    to_confirm: str = ""
    cables_right: bool = False
    """Whether every cable is right in each of its explanations: the names are wrong, or the plan."""
    explains: list[str] = field(default_factory=list)
    """Ids of findings."""
    harm: int = 0
    """Number of ports known to be affected; of causes of one kind, the one that affects more comes first."""


def names_of_devices(index: PlanIndex, codes: Iterable[int]) -> tuple[str, ...]:
    """The names of devices, in natural order."""
    return tuple(sorted((index.devices.names[code] for code in codes), key=natural_key))


def joined_names(names: Sequence[str]) -> str:
    """`a and b`; `a, b, c`."""
    return (" and " if len(names) == 2 else ", ").join(names)


def attach(index: PlanIndex, drafts: list[CauseCandidate], findings: Iterable[Finding]) -> list[Finding]:
    """Gives each finding to the first draft that can explain it, by precedence. Returns the unexplained findings."""
    by_subject: dict[str, list[CauseCandidate]] = {}
    for draft in sorted(drafts, key=lambda d: CAUSE_KINDS[d.kind].precedence):
        names = {str(end) for c in draft.cables for end in (index.a_port(c), index.b_port(c))} | set(draft.devices)
        for name in names:
            by_subject.setdefault(name, []).append(draft)
    left: list[Finding] = []
    for finding in findings:
        for draft in by_subject.get(finding.subject, ()):
            if finding.rule.startswith(draft.rules):
                draft.explains.append(finding.id)
                break
        else:
            left.append(finding)
    return left


def names_only(draft: CauseCandidate) -> bool:
    """Whether only names are wrong: no cable has to move, and none carries traffic to a wrong place.

    False for a cause that may as well be swapped cables (`alternatives`): it ranks by the impact of those.
    """
    if draft.moves or (draft.alternatives and not draft.cables_right):
        return False
    names = CAUSE_KINDS[draft.kind].names
    return names == "devices" or (names == "NICs" and len(draft.cables) > 0)


def _affects_nobody(draft: CauseCandidate) -> bool:
    """Whether there is no impact in any case: names alone, or cables that would stay on their switches."""
    if names_only(draft):
        return True
    moves = [move for other in draft.alternatives for move in other.moves]
    swap = CAUSE_KINDS[draft.kind].names == "devices" and not draft.moves
    return swap and bool(moves) and all(move.source.device == move.target.device for move in moves)


def number(drafts: Iterable[CauseCandidate]) -> tuple[Cause, ...]:
    """Causes with ids C1, C2, ...: blocks first, then cables, then devices and links that are down, the larger before
    the smaller. Causes without impact, such as wrong names alone, come last.
    """
    ordered = sorted(
        drafts, key=lambda d: (_affects_nobody(d), CAUSE_KINDS[d.kind].shown, -max(len(d.explains), d.harm), d.subjects)
    )
    return tuple(
        Cause(
            f"C{i}", d.kind, d.subjects, d.summary, d.action, tuple(d.explains), d.moves, round(d.confidence, 2),
            d.alternatives, d.to_confirm, names_only(d), d.renames,
        )
        for i, d in enumerate(ordered, 1)
    )  # fmt: skip
