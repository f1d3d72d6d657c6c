"""A slow NIC among NICs that congestion slows too: its expected rate is that of NICs with as many notifications."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rules import rules
from rules._alike import CROWD, Alike, alike_of, levels
from truerail.analysis.counters.rail_balance import Rails
from truerail.analysis.rule import InsufficientDataError
from truerail.causes import explain
from truerail.model import Finding
from truerail.testing.cases import scene

LEVEL = 3e10
HOSTS, RAILS = 24, 4
PLAN = "\n".join(f"h{h}/nic{r} leaf-{r}/p{h} rail={r} speed=400" for h in range(HOSTS) for r in range(RAILS))
REPORTED = {"cnp_handled": 0.0, "ecn_received_packets": 0.0}


def carries(share: float, notices: float = 0.0) -> dict[str, float]:
    """A NIC's counters in each direction at this share, with this many congestion notifications per gigabyte."""
    per_second = notices * share * LEVEL * 1e-9
    both = {"tx_bytes": share * LEVEL, "rx_bytes": share * LEVEL}
    return both | {"cnp_handled": per_second, "ecn_received_packets": per_second}


def crowded(count: int, share: float = 0.7, notices: float = 40.0) -> dict[str, dict[str, float]]:
    """So many NICs, one of each host, that collisions hold at this share."""
    return {f"h{h}/nic{h % RAILS}": carries(share, notices) for h in range(count)}


def evaluated(changed: Mapping[str, Mapping[str, float]], code: str = "RAL002") -> list[Finding]:
    rates = {f"h{h}/nic{r}": carries(1.0) for h in range(HOSTS) for r in range(RAILS)}
    return found_in(rates | {port: rates.get(port, {}) | dict(of) for port, of in changed.items()}, code)


def found_in(rates: Mapping[str, Mapping[str, float]], code: str = "RAL002") -> list[Finding]:
    return list(rules()[code].findings(scene(replace(rules()["RAL002"].fires[0], plan=PLAN, rates=rates))))


def test_what_collisions_hold_up_is_not_slow() -> None:
    assert evaluated(crowded(HOSTS)) == []


def test_who_lacks_more_than_those_reported_as_much_is_slow() -> None:
    (finding,) = evaluated(crowded(HOSTS) | {"h5/nic1": carries(0.75 * 0.7, 40.0)})
    assert finding.subject == "h5/nic1"
    assert "more than NICs with as many congestion signs lack" in finding.summary
    assert dict(finding.detail)["share_of_expected"] == pytest.approx(0.75, abs=0.01)


def test_the_same_lack_with_more_notices_is_congestion() -> None:
    assert evaluated(crowded(HOSTS) | {"h5/nic1": carries(0.75 * 0.7, 400.0)}) == []


def test_too_few_reported_as_much_explain_as_before_by_notices_alone() -> None:
    few = crowded(CROWD // 2)
    assert evaluated(few | {"h5/nic1": carries(0.75 * 0.7, 40.0)}) == []


def test_a_slow_nic_shows_where_congestion_slows_the_others_of_its_host() -> None:
    """Its host's median NIC is held up too: beside that alone it lacks nothing."""
    others = {f"h5/nic{r}": carries(0.82, 40.0) for r in (0, 2, 3)}
    (finding,) = evaluated(crowded(HOSTS, 0.82) | others | {"h5/nic1": carries(0.82)})
    assert finding.subject == "h5/nic1"
    assert dict(finding.detail)["share_of_median"] == pytest.approx(1.0)


def test_a_host_whose_nics_differ_among_themselves_measures_none_of_them() -> None:
    uneven = {f"h5/nic{r}": carries(share) for r, share in enumerate((0.4, 0.6, 0.8, 1.0))}
    with pytest.raises(
        InsufficientDataError, match="2 NICs carry less than is expected, and their peers are apart by as much"
    ):
        evaluated(uneven)


def test_a_rail_that_other_hosts_load_more_measures_nobody_who_does_not() -> None:
    heavy = {f"h{h}/nic1": carries(1.5) for h in range(HOSTS - 4)}
    with pytest.raises(
        InsufficientDataError, match="1 NICs carry less than is expected, and their peers are apart by as much"
    ):
        evaluated(heavy | {"h22/nic1": carries(0.8)})


def test_hosts_of_other_work_are_not_reported_as_much() -> None:
    """Twice the level: what their collisions leave them says nothing of this host's."""
    others = {f"h{h}/nic{r}": carries(0.3) for h in range(HOSTS) for r in range(RAILS)} | {
        f"h{h}/nic{h % RAILS}": carries(0.21, 40.0) for h in range(HOSTS)
    }
    own = {f"h23/nic{r}": carries(1.0) for r in range(RAILS)} | {"h23/nic1": carries(0.5, 40.0)}
    assert found_in(others | own) == []


@pytest.mark.parametrize(("ticks", "fires"), [(1.5e9, False), (1e8, True)], ids=["as long as it lacks", "hardly"])
def test_a_nic_that_waits_for_credits_is_held_up_in_what_it_sends(ticks: float, *, fires: bool) -> None:
    """400 Gb/s are 6.25e9 ticks of eight bytes a second: it waits for 24 % of the time, or for 2 %."""
    same = {"tx_bytes": LEVEL, "rx_bytes": LEVEL, "transmit_wait": 0.0}
    rates = {f"h{h}/nic{r}": same for h in range(HOSTS) for r in range(RAILS)}
    sends_less = {"tx_bytes": 0.6 * LEVEL, "rx_bytes": LEVEL, "transmit_wait": ticks}
    assert bool(found_in(rates | {"h5/nic1": sends_less})) is fires
    assert found_in(rates | {"h5/nic1": sends_less | {"rx_bytes": 0.6 * LEVEL}})


def test_pauses_that_the_rule_has_weighed_do_not_explain_its_finding_again() -> None:
    """Its leaf pauses it for as long as NICs with as many notifications; any further deficit is its own."""
    paused = {port: of | {"rx_pause_us:3": 1.5e5} for port, of in crowded(HOSTS).items()}
    rates = {f"h{h}/nic{r}": carries(1.0) for h in range(HOSTS) for r in range(RAILS)} | paused
    rates["h5/nic1"] = carries(0.75 * 0.7, 40.0) | {"rx_pause_us:3": 1.5e5}
    made = scene(replace(rules()["RAL002"].fires[0], plan=PLAN, rates=rates))
    findings = [finding for code in ("RAL002", "PFC002") for finding in rules()[code].findings(made)]
    (slow,) = [finding for finding in findings if finding.rule == "RAL002"]
    assert slow.subject == "h5/nic1"
    (cause,) = [cause for cause in explain(made, findings) if slow.id in cause.explains]
    assert cause.subjects[0] == "h5/nic1"


def _measured(rate: np.ndarray[Any, np.dtype[np.float64]], signs: np.ndarray[Any, np.dtype[np.float64]]) -> Alike:
    hosts, nics = rate.shape
    windows = np.repeat(rate[:, :, None], 5, axis=2)
    port = np.arange(hosts * nics).reshape(hosts, nics)
    rail = np.broadcast_to(np.arange(nics), rate.shape)
    # what carried it is of no concern here
    rails = Rails(None, np.arange(hosts), port, rail, windows, windows, np.full(rate.shape, 1e11))  # type: ignore[arg-type]
    return alike_of(rails, np.stack([signs, signs]), np.zeros(rate.shape))


def test_expected_is_level_times_rail_times_what_congestion_leaves() -> None:
    level = np.random.default_rng(7).uniform(2.5e10, 3e10, (HOSTS, 1))
    usual = np.array([1.0, 1.0, 0.6, 1.0])
    signs = np.zeros((HOSTS, RAILS))
    signs[np.arange(HOSTS), np.arange(HOSTS) % RAILS] = 1.0
    rate = level * usual * np.where(signs > 0, 0.7, 1.0)
    alike = _measured(rate, signs * rate * 4e-8)
    np.testing.assert_allclose(alike.expected, np.stack([rate, rate]), rtol=1e-6)
    assert (alike.known == (signs > 0)).all()


def test_levels_are_reported_by_three_nics_or_more_and_by_the_upper_half() -> None:
    values = np.array([[[1.0, 2.0, 3.0, 4.0], [5.0, np.nan, np.nan, 6.0], [7.0, 9.0, np.nan, 8.0]]])
    np.testing.assert_array_equal(levels(values)[0, :, 0], [3.0, np.nan, 8.0])


def test_no_hosts_are_no_matter() -> None:
    empty = np.empty((0, 3))
    assert _measured(empty, empty).rate.shape == (2, 0, 3)
