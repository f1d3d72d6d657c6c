"""A switch that renews the counters of each port at its own time: EOS' `counterRefreshTime` is the sample's time."""

import json
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from collector import collectors
from truerail.analysis.counters import Window
from truerail.analysis.counters.quantities import Quantity
from truerail.model import Device, PortCounters, Reading

BEGAN = datetime(2026, 11, 20, 14, 0, tzinfo=UTC)
RATE = 1e10
CLOCK_OFF = 3_000.0
"""The switch's clock is fifty minutes ahead."""


def answer(renewed: dict[str, object]) -> str:
    """`show interfaces | json` of ports that carry the same rate, each renewed at its own second."""

    def counted(at: object) -> dict[str, object]:
        octets = int(RATE * at) if isinstance(at, (int, float)) else 7
        time = at + CLOCK_OFF + BEGAN.timestamp() if isinstance(at, (int, float)) else at
        return {"inOctets": octets, "outOctets": octets, "counterRefreshTime": time}

    return json.dumps({"interfaces": {port: {"interfaceCounters": counted(at)} for port, at in renewed.items()}})


def facts(renewed: dict[str, object]) -> tuple[PortCounters, ...]:
    found = collectors()["port_counters"].read(answer(renewed), Device("leaf-0"))
    return tuple(fact for fact in found if isinstance(fact, PortCounters))


def rates(rounds: dict[int, dict[str, object]]) -> dict[str, list[float]]:
    """Bytes a second of each port in each sample, by the time behind it."""
    window = Window()
    for second, renewed in rounds.items():
        at = BEGAN + timedelta(seconds=second)
        window.put([Reading("leaf-0", "port_counters", at, facts(renewed))])
    source = window.sources["port_counters"]
    values = source.series[Quantity.RX_BYTES, None].gained.view().of(window.order) / source.span.view().of(window.order)
    return {port: values[row].tolist() for row, (_, port) in enumerate(source.ports)}


def test_the_time_of_a_sample_is_when_the_port_was_renewed() -> None:
    late = {0: 0.0, 10: 4.0, 20: 19.5, 30: 22.0}  # of the second port: gaps of 4, 15.5 and 2.5 seconds
    found = rates({second: {"Ethernet1": float(second), "Ethernet2": own} for second, own in late.items()})
    assert found["Ethernet1"][1:] == pytest.approx([RATE] * 3, rel=1e-4)
    assert found["Ethernet2"][1:] == pytest.approx([RATE] * 3, rel=1e-4)


def test_a_port_that_was_not_renewed_is_not_read_and_its_next_sample_covers_both() -> None:
    late = {0: 0.0, 10: 9.0, 20: 9.0, 30: 29.0}
    found = rates({second: {"Ethernet1": float(second), "Ethernet2": own} for second, own in late.items()})["Ethernet2"]
    assert np.isnan(found[2])
    assert found[1::2] == pytest.approx([RATE, RATE], rel=1e-4)


@pytest.mark.parametrize("odd", ['"soon"', "null", "[]", "-1", "1e300", "Infinity"])
def test_a_time_that_is_none_is_left_out(odd: str) -> None:
    ports = (f'"Ethernet{n}": {{"inOctets": 7, "counterRefreshTime": {at}}}' for n, at in enumerate(("1e9", odd)))
    found = collectors()["port_counters"].read(f'{{"interfaces": {{{", ".join(ports)}}}}}', Device("leaf-0"))
    assert [fact.lag_seconds for fact in found if isinstance(fact, PortCounters)] == [None, None]


def test_the_age_of_a_port_is_counted_from_the_newest() -> None:
    assert [fact.lag_seconds for fact in facts({"Ethernet1": 10.0, "Ethernet2": 8.0})] == [None, 2.0]


def test_a_port_that_was_renewed_long_ago_has_no_known_age() -> None:
    assert [fact.lag_seconds for fact in facts({"Ethernet1": 100.0, "Ethernet2": 8.0})] == [None, None]
