"""The fields of a finding or cause that no query uses, in one compressed field: evidence, moves, alternatives."""

import json
import zlib
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from truerail.model.cause_kinds import CauseKind
from truerail.model.fact_kinds import KINDS
from truerail.model.facts import Fact
from truerail.model.finding import Alternative, Cause, Evidence, Finding, Move, Rename
from truerail.model.plan import Port

_FACTS = {kind.__name__: kind for kind in KINDS}
_Packed = dict[str, Any]


def finding_body(finding: Finding) -> bytes:
    """A finding's evidence, and its exact subject, from which the id derives."""
    evidence = [(one.device, one.collector, one.at.isoformat(), *_reported(one.fact)) for one in finding.evidence]
    return _pack(
        {"subject": finding.subject, "confidence": finding.confidence, "detail": finding.detail, "evidence": evidence}
    )


def finding_extras(body: bytes) -> _Packed:
    """The fields of a finding that `finding_body` packed."""
    found = _unpack(body)
    return {
        "subject": found["subject"],
        "confidence": found["confidence"],
        "detail": tuple((name, value) for name, value in found["detail"]),
        "evidence": tuple(_evidence(found["evidence"])),
    }


def cause_body(cause: Cause) -> bytes:
    """What a cause explains and how to fix it."""
    return _pack(
        {
            "id": cause.id,
            "explains": cause.explains,
            "moves": [_packed(move) for move in cause.moves],
            "confidence": cause.confidence,
            "alternatives": [
                (one.kind.value, one.summary, [_packed(move) for move in one.moves]) for one in cause.alternatives
            ],
            "to_confirm": cause.to_confirm,
            "names_only": cause.names_only,
            "renames": [(one.actual, one.planned) for one in cause.renames],
        }
    )


def cause_extras(body: bytes) -> _Packed:
    """The fields of a cause that `cause_body` packed."""
    found = _unpack(body)
    return {
        "id": found["id"],
        "explains": tuple(found["explains"]),
        "moves": _moves(found["moves"]),
        "confidence": found["confidence"],
        "alternatives": tuple(
            Alternative(CauseKind(kind), summary, _moves(moves)) for kind, summary, moves in found["alternatives"]
        ),
        "to_confirm": found["to_confirm"],
        "names_only": found.get("names_only", False),
        "renames": tuple(Rename(*pair) for pair in found.get("renames", ())),
    }


def _pack(value: _Packed) -> bytes:
    """JSON with escapes only: unlike UTF-8, it carries any text of a device."""
    return zlib.compress(json.dumps(value, separators=(",", ":"), default=str).encode("ascii"))


def _unpack(body: bytes) -> _Packed:
    found: _Packed = _frozen(json.loads(zlib.decompress(body)))
    return found


def _frozen(value: Any) -> Any:
    """Lists as tuples, as findings have them."""
    if isinstance(value, list):
        return tuple(_frozen(one) for one in value)
    if isinstance(value, dict):
        return {key: _frozen(one) for key, one in value.items()}
    return value


def _packed(move: Move) -> tuple[Port | str | tuple[str, ...], ...]:
    return (move.cable, move.source, move.target, *((move.after, move.after_causes) if move.after else ()))


def _moves(packed: Any) -> tuple[Move, ...]:
    return tuple(Move(Port(*cable), Port(*source), Port(*target), *first) for cable, source, target, *first in packed)


def _reported(fact: Fact) -> tuple[str, _Packed]:
    return type(fact).__name__, fact._asdict()


def _evidence(packed: Any) -> Iterator[Evidence]:
    """Skips a fact that another version wrote with more or fewer fields: the next round reports it again."""
    for device, collector, at, kind, fields in packed:
        shape = _FACTS.get(kind)
        if shape is not None and set(shape._fields) == fields.keys():
            yield Evidence(device, collector, datetime.fromisoformat(at), shape(**fields))
