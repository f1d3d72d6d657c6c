"""Bounds of a fact's numbers and texts. A value out of bounds is no measurement but a fault or an attack: it would
break arithmetic far from the device that sent it. An MTU of 20 digits fits no column of 64 bits and disables a rule.

A list where a text belongs, or a mapping within one, breaks every evaluation: such an answer is refused as well.

A number out of bounds becomes None, "not reported", if the fact allows it; otherwise the answer is refused. The bounds
of a kind are declared with it, in `facts.py`.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple, TypeVar

from truerail.errors import OutOfBoundsError
from truerail.model.fact_kinds import KINDS
from truerail.model.facts import Fact, PortCounters, PortQos

F = TypeVar("F", bound=Fact)
LONGEST_TEXT = 8192
"""Most characters of one text of a fact: a kernel command line has 4,096, a text of LLDP 255."""
MOST_COUNTED = 2**64


def may_have_long_texts(answer: str) -> bool:
    """Whether a text in an answer may have more than `LONGEST_TEXT` characters. In JSON a quote ends each: a longer one
    fills a whole block of half that length, unless it has escaped quotes itself.
    """
    if len(answer) <= LONGEST_TEXT:
        return False
    if answer[0] not in "[{" or "\\" in answer:
        return True
    block = LONGEST_TEXT // 2
    return any(answer.find('"', start, start + block) < 0 for start in range(0, len(answer) - block + 1, block))


class _Bound(NamedTuple):
    field: str
    at: int
    low: float
    high: float
    needed: bool


def bounded(facts: Sequence[F], *, texts: bool = True) -> Sequence[F]:
    """The facts with every number within its bounds. `texts`: whether their texts may also be too long.

    Raises OutOfBoundsError, and TypeError for a value that is no number.
    """
    kinds = set(map(type, facts))
    of = {kind: facts if len(kinds) == 1 else [fact for fact in facts if type(fact) is kind] for kind in kinds}
    if all(_all_within(kind, found, texts) for kind, found in of.items()):
        return facts
    return [_one(fact, texts) for fact in facts]


def _all_within(kind: type[Fact], facts: Sequence[Fact], texts: bool) -> bool:
    """Whether nothing is out of bounds, checked by whole columns: a fifth of the cost of row by row."""
    if kind is PortQos:
        return False
    try:
        found = set[type]().union(*(map(type, map(itemgetter(at), facts)) for at in _PLAIN[kind]))
        if not all(issubclass(one, _TEXT) for one in found):
            return False
        if kind is not PortCounters:
            deque(map(hash, facts), 0)
        if texts and any(_longest(facts, at) > LONGEST_TEXT for at in _TEXTS.get(kind, ())):
            return False
        if kind is PortCounters:
            return all(not of or (min(of) >= 0 and max(of) < MOST_COUNTED) for of in map(attrgetter("values"), facts))
        values = ((bound, set(map(itemgetter(bound.at), facts))) for bound in _TABLE.get(kind, ()))
        return all(_within(value, bound) for bound, column in values for value in column)
    except TypeError:  # not a number: the check row by row names it
        return False


def _longest(facts: Sequence[Fact], at: int) -> int:
    """Characters of the longest text in a column. Most columns have few different ones."""
    return max([len(value) for value in set(map(itemgetter(at), facts)) if type(value) is str], default=0)


def _one(fact: F, texts: bool) -> F:
    if texts:
        _refuse_long(fact)
    kind = type(fact)
    for at in _PLAIN[kind]:
        if not isinstance(fact[at], _TEXT):
            raise OutOfBoundsError(f"{kind._fields[at]} that is no text: no device has that")
    if kind is PortCounters:
        _refuse_counted(fact)
        return fact
    try:
        hash(fact)
    except TypeError as error:
        raise OutOfBoundsError(f"a list or a mapping where none belongs: {error}") from error
    if kind is PortQos:
        _refuse_priorities(fact)
    wrong = [bound for bound in _TABLE.get(kind, ()) if not _within(getattr(fact, bound.field), bound)]
    return _without(fact, wrong) if wrong else fact


def _within(value: Any, bound: _Bound) -> bool:
    """NaN and infinity are not within."""
    return value is None or bound.low <= value <= bound.high


def _without(fact: F, wrong: Iterable[_Bound]) -> F:
    for bound in wrong:
        if bound.needed:
            raise OutOfBoundsError(f"{bound.field} of {_shown(getattr(fact, bound.field))}: no device has that")
    changed: Any = fact
    return changed._replace(**dict.fromkeys((bound.field for bound in wrong), None))  # type: ignore[no-any-return]


def _shown(value: float) -> str:
    """A number of any length in short form."""
    if isinstance(value, int) and abs(value) >= MOST_COUNTED:
        return "more than 64 bits" if value > 0 else "less than any number of 64 bits"
    return str(value)


def _refuse_counted(fact: Any) -> None:
    if fact.values and not 0 <= min(fact.values) <= max(fact.values) < MOST_COUNTED:
        raise OutOfBoundsError(f"a counter of {fact.port} that does not fit into 64 bits")


def _refuse_priorities(fact: Any) -> None:
    for priorities in (fact.pfc_priorities, fact.ecn_priorities):
        if priorities and not 0 <= min(priorities) <= max(priorities) < 2**20:
            raise OutOfBoundsError(f"a priority of {fact.port} that no port has")
    for dscp, priority in fact.dscp_to_priority or ():
        if not (0 <= dscp < 64 and 0 <= priority < 2**20):
            raise OutOfBoundsError(f"a DSCP or a priority of {fact.port} that no port has")


def _refuse_long(fact: Any) -> None:
    for name, value in zip(fact._fields, fact, strict=True):
        if isinstance(value, str) and len(value) > LONGEST_TEXT:
            raise OutOfBoundsError(f"{name} of {len(value):,} characters: no device has that")


def _of(kind: type[Fact]) -> tuple[_Bound, ...]:
    optional, fields, bounds = kind._field_defaults, kind._fields, KINDS[kind].bounds.items()
    return tuple(_Bound(name, fields.index(name), low, high, name not in optional) for name, (low, high) in bounds)


_TABLE: dict[type[Any], tuple[_Bound, ...]] = {kind: _of(kind) for kind in KINDS}


def _columns(has: Callable[[Any], object]) -> dict[type[Any], tuple[int, ...]]:
    """The columns of each kind whose annotations are so."""
    return {
        kind: tuple(at for at, name in enumerate(kind._fields) if has(kind.__annotations__[name])) for kind in KINDS
    }


_TEXTS = _columns(lambda declared: {declared, *getattr(declared, "__args__", ())} & {str, Any, object})
"""The columns of a kind that may have texts."""
_TEXT = (str, type(None))
_PLAIN = _columns(lambda declared: declared in (str, str | None))
"""The columns of a kind that have texts alone, or None."""
