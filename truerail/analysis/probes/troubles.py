"""What kept hosts from being good witnesses of their own probes: why parts of a run are unknown."""

from collections import Counter
from typing import TYPE_CHECKING

from truerail.model.names import natural_key
from truerail.model.probe_facts import BUFFER_FULL, LEFT_OUT, NOT_SENT, OUT_OF_TIME, STARTED_LATE, ProbeTrouble

if TYPE_CHECKING:
    from truerail.analysis.round import Round

_SHOWN = 4


def troubles(round: "Round") -> dict[str, str]:
    """By host, why what was sent by it or to it is unknown. A host that was left out has the reason of that."""
    return round.once(_troubles)


def words_of(round: "Round") -> str:
    """One sentence on the hosts that took part, and are no good witnesses; empty if all are."""
    absent = left_out(round)
    found = [f"{host} {why}" for host, why in troubles(round).items() if host not in absent]
    if not found:
        return ""
    rest = len(found) - _SHOWN
    more = f"; and {rest:,} host{'s' if rest > 1 else ''} more" if rest > 0 else ""
    return f"Probes: parts are unknown because of the hosts themselves: {'; '.join(found[:_SHOWN])}{more}."


def _troubles(round: "Round") -> dict[str, str]:
    table = round.snapshot.table(ProbeTrouble)
    amounts: dict[str, Counter[tuple[str, str]]] = {}
    for row, device in zip(table.rows, table.device.tolist(), strict=True):
        detail = row.detail or "" if row.flow is None else ""
        amounts.setdefault(table.devices[device], Counter())[row.what, detail] += row.amount
    said = {host: [_words(*one, count) for one, count in of.items()] for host, of in amounts.items()}
    found = left_out(round) | {host: ", ".join(filter(None, of)) for host, of in said.items() if any(of)}
    return {host: found[host] for host in sorted(found, key=natural_key)}


def left_out(round: "Round") -> dict[str, str]:
    """Hosts that took no part, and why."""
    table = round.snapshot.table(ProbeTrouble)
    rows = (
        (row, device) for row, device in zip(table.rows, table.device.tolist(), strict=True) if row.what == LEFT_OUT
    )
    return {table.devices[device]: row.detail or "no reason is recorded" for row, device in rows}


def _words(what: str, detail: str, amount: int) -> str:
    """Empty for what is no trouble of the host itself, such as a route that it has not."""
    if what == STARTED_LATE:
        return f"began {amount / 1000:.1f} s late"
    if what == BUFFER_FULL:
        return f"dropped {amount:,} packets itself"
    if what == OUT_OF_TIME:
        return f"had no time to send {amount:,} packets"
    if detail.startswith("listening on "):
        return f"could not listen on {detail.removeprefix('listening on ')} ({what})"
    return f"could not send {amount:,} times ({what})" if what in NOT_SENT else ""
