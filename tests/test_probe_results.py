"""What probes found of each NIC: the states, the figures by rail, and what the API and the list show of them."""

import csv
import io
import json
from base64 import b64decode
from collections import Counter
from datetime import timedelta
from functools import cache
from pathlib import Path

import pytest
from msgspec import structs

from collector import collectors
from rules._examples import heard, sent
from tests.api_client import Api
from tests.fake_tower import FakeTower, fabric
from tests.page_site import publication
from tests.probed_fabric import RUN_AT, nics_of_plan, probes_of, with_probes
from truerail.analysis.probes.reached import reached
from truerail.analysis.probes.results import NIC_STATES, ProbeResults, probe_results
from truerail.analysis.published import Published
from truerail.analysis.round import Round
from truerail.analysis.rule import Case
from truerail.model import Device, Fact, ProbeTrouble, Snapshot
from truerail.testing.cases import scene
from truerail.views.probe_matrix import probe_matrix, probed_nics
from truerail.views.probe_recordings import recording_of

BROKEN, SEEN = fabric()
PLAN = BROKEN.plan
NICS = [str(PLAN.cables[nic.cable].a) for nic in nics_of_plan(PLAN)]
LOST, DEAF, BUSY = NICS[4], NICS[9], NICS[-1].partition("/")[0]


@cache
def probed() -> Published:
    return publication(PLAN, with_probes(PLAN, SEEN, lost=[LOST], one_way=[DEAF], left_out={BUSY: "busy: <job>"}))


def _states(found: ProbeResults) -> dict[str, str]:
    return {str(cable.a): NIC_STATES[code] for cable, code in zip(PLAN.cables, found.state.tolist(), strict=True)}


def test_a_nic_is_reached_only_where_both_directions_were_tried_and_arrived() -> None:
    found = probe_results(probed().round)
    assert found
    states = _states(found)
    assert (states[LOST], states[DEAF]) == ("lost", "partly")
    untried = [nic for nic, state in states.items() if state == "untried"]
    assert {nic.partition("/")[0] for nic in untried} == {BUSY}
    assert set(states.values()) == {"none", "lost", "partly", "untried", "reached"}, "peers of a bad NIC are not bad"
    assert found.left_out == {BUSY: "busy: <job>"}


RECORDINGS = Path(__file__).parent / "recordings" / "probe_results"
TWO = "h1/nic0 leaf-0/p1 rail=0\nh2/nic0 leaf-0/p2 rail=0"


@pytest.mark.parametrize(
    ("h1", "h2", "states"),
    [
        ([sent(0, "nic0", "h2", "nic0")], [heard(0, "nic0", "h1", "nic0")], ["untried", "untried"]),
        ([sent(0, "nic0", "h2", "nic0")], [], ["untried", "untried"]),
        ([sent(0, "nic0", "h2", "nic0")], [heard(0, "nic0", "h1", "nic0", 0)], ["lost", "lost"]),
        (
            [sent(0, "nic0", "h2", "nic0"), heard(1, "nic0", "h2", "nic0")],
            [heard(0, "nic0", "h1", "nic0"), sent(1, "nic0", "h1", "nic0")],
            ["reached", "reached"],
        ),
        (
            [sent(0, "nic0", "h2", "nic0"), heard(1, "nic0", "h2", "nic0", tos_heard=0)],
            [heard(0, "nic0", "h1", "nic0"), sent(1, "nic0", "h1", "nic0")],
            ["partly", "partly"],
        ),
        (
            [sent(0, "nic0", "h2", "nic0"), sent(0, "nic0", "h2", "nic0", size=9000), heard(1, "nic0", "h2", "nic0")],
            [heard(0, "nic0", "h1", "nic0"), sent(1, "nic0", "h1", "nic0")],
            ["partly", "partly"],
        ),
    ],
)
def test_the_worst_of_what_was_tried_shows(h1: list[Fact], h2: list[Fact], states: list[str]) -> None:
    found = probe_results(scene(Case({"h1": h1, "h2": h2}, plan=TWO)))
    assert found
    assert [NIC_STATES[code] for code in found.state.tolist()] == states


def test_a_round_without_probes_has_no_results_and_every_nic_is_untried() -> None:
    shown = publication(PLAN, SEEN)
    assert probe_results(shown.round) is None
    matrix = probe_matrix(shown)
    assert set(b64decode(matrix.cells)) == {4}
    assert matrix.probed_at is None
    assert {(rail.untried, rail.pairs_untried, rail.packets) for rail in matrix.by_rail} == {(24, 24 * 23, None)}
    assert "untried" in matrix.summary


def test_the_matrix_has_a_cell_for_each_nic_and_figures_that_add_up() -> None:
    matrix = probe_matrix(probed())
    cells = b64decode(matrix.cells)
    assert len(cells) == len(matrix.hosts) * len(matrix.rails)
    host, nic = LOST.split("/")
    rail = next(cable.rail for cable in PLAN.cables if str(cable.a) == LOST)
    assert nic
    assert cells[matrix.hosts.index(host) * len(matrix.rails) + matrix.rails.index(rail)] == 2
    assert matrix.probed_at == SEEN.at
    for one in matrix.by_rail:
        assert one.nics == one.reached + one.partly + one.lost + one.untried == 24
        assert (one.packets_lost or 0) <= (one.packets or 0)
    (bad,) = (one for one in matrix.by_rail if one.rail == rail)
    assert bad.pairs_lost > 0
    assert bad.packets_lost == 3 * bad.pairs_lost


def test_the_oldest_part_says_when_it_was_probed() -> None:
    old, new = probes_of(PLAN, ("A",)), probes_of(PLAN, ("B",), at=RUN_AT + timedelta(minutes=5))
    hosts = {reading.device for reading in new}
    readings = [*new, *(reading for reading in old if reading.device not in hosts)]
    found = probe_results(Round(PLAN, Snapshot(RUN_AT + timedelta(minutes=6), readings)))
    assert found
    assert found.at == min(reading.at for reading in readings)


def test_the_api_shows_the_matrix_and_lists_nics_worst_first() -> None:
    with Api(FakeTower(probed())) as api:
        assert api.json("probe")["left_out"] == [{"host": BUSY, "why": "busy: <job>"}]
        rows = api.json("probe/nics", state="lost,partly,untried", limit=500)["items"]
        assert [row["nic"] for row in rows][:2] == [LOST, DEAF]
        assert {row["why_untried"] for row in rows} == {"", "busy: <job>"}
        one = api.json("probe/nics", nodes=LOST.partition("/")[0], sort="-faulty")["items"][0]
        assert (one["nic"], one["sent_lost"]) == (LOST, one["sent"])
        assert api.get("probe/nics?state=fine").status_code == 400
        table = list(csv.DictReader(io.StringIO(api.get("probe/nics?format=csv&rail=0").text)))
    assert len(table) == 24


def test_what_counts_is_a_recording_again_for_a_capture() -> None:
    hosts = {reading.device: reading.facts for reading in probes_of(PLAN)}
    with Api(FakeTower(probed())) as api:
        first = api.json("probe/recordings", limit=2)
        rest = api.json("probe/recordings", limit=1000, cursor=first["next"])
    found = {one["host"]: one["recording"] for one in (*first["items"], *rest["items"])}
    assert (len(first["items"]), first["total"], found.keys()) == (2, len(hosts), hosts.keys())
    seen = {one.device: one.facts for one in probed().snapshot.readings if one.collector == "probe_results"}
    for host, text in found.items():
        assert Counter(_read(text)) == Counter(seen[host])
    text = (RECORDINGS / "both_roles" / "answer.txt").read_text()
    assert Counter(_read(recording_of("gpu-001", _read(text)))) == Counter(_read(text)), "hops and troubles too"
    twice = [json.loads(text), {**json.loads(text), "run": "another"}]
    both = _read(json.dumps(twice))
    assert Counter(_read(recording_of("gpu-001", both))) == Counter(both)
    assert {fact.run for fact in both} == {"another", json.loads(text)["run"]}  # type: ignore[union-attr]  # facts of probes


def _read(text: str) -> tuple[Fact, ...]:
    return tuple(collectors()["probe_results"].read(text, Device("gpu-001")))


@pytest.mark.parametrize("sort", ["nic", "host", "rail", "plane", "leaf", "state", "sent", "received", "received_lost"])
def test_the_list_is_sorted_by_every_column(sort: str) -> None:
    up, down = (probed_nics(probed(), sort=f"{sign}{sort}", limit=500) for sign in ("", "-"))
    assert up.total == down.total == len(NICS)
    assert {row.nic for row in up.items} == set(NICS)


def test_why_a_nic_is_untried_is_said() -> None:
    facts: dict[str, list[Fact]] = {"h1": [sent(0, "nic0", "h2", "nic0")], "h2": [heard(0, "nic0", "h1", "nic0")]}
    round = scene(Case(facts, plan=TWO + "\nh3/nic0 leaf-0/p3 rail=0"))
    shown = publication(round.plan, round.snapshot)
    why = {row.nic: row.why_untried for row in probed_nics(shown).items}
    assert "nothing that it received" in why["h1/nic0"]
    assert "nothing that it sent" in why["h2/nic0"]
    assert "no address" in why["h3/nic0"]
    assert "no probe has been sent" in probed_nics(publication(PLAN, SEEN)).items[0].why_untried


def test_hosts_that_are_no_good_witnesses_are_named_with_what_went_wrong() -> None:
    wrong = {
        "h2": [ProbeTrouble("", "started late", 900, "r"), ProbeTrouble("", "buffer full", 12, "r")],
        "h3": [ProbeTrouble("", "EADDRNOTAVAIL", 1, "r", None, "listening on 10.0.0.3")],
        "h4": [ProbeTrouble("nic0", "EADDRINUSE", 2, "r", 7), ProbeTrouble("nic0", "EADDRINUSE", 1, "r", 8)],
        "h5": [ProbeTrouble("nic0", "out of time", 1200, "r", 9), ProbeTrouble("nic0", "ENETUNREACH", 3, "r", 9)],
        "h6": [ProbeTrouble("", "left out", 1, "r", None, "busy"), ProbeTrouble("nic0", "peer left out", 1, "r", 1)],
        "h7": [ProbeTrouble("nic0", "ENETUNREACH", 3, "r", 9)],
        "h8": [ProbeTrouble("", "buffer full", 1, "r")],
    }
    plan = "\n".join(f"h{n}/nic0 leaf-0/p{n} rail=0" for n in range(1, 9))
    round = scene(Case({"h1": [sent(0, "nic0", "h2", "nic0")], **wrong}, plan=plan))
    shown = publication(round.plan, round.snapshot)
    (note,) = [one for one in shown.evaluation.notes if "because of the hosts" in one]
    assert note == (
        "Probes: parts are unknown because of the hosts themselves: h2 began 0.9 s late, dropped 12 packets itself; "
        "h3 could not listen on 10.0.0.3 (EADDRNOTAVAIL); h4 could not send 3 times (EADDRINUSE); "
        "h5 had no time to send 1,200 packets; and 1 host more."
    )
    why = {row.host: row.why_untried for row in probed_nics(shown).items}
    assert (why["h3"], why["h6"]) == ("could not listen on 10.0.0.3 (EADDRNOTAVAIL)", "busy")
    assert "no address" in why["h7"]
    assert not [one for one in probed().evaluation.notes if "because of the hosts" in one]


def test_flows_are_joined_once_until_other_results_come() -> None:
    first = Round(PLAN, Snapshot(RUN_AT, probes_of(PLAN, ("A",))))
    later = Round(
        PLAN, Snapshot(RUN_AT, [structs.replace(one) for one in first.snapshot.readings]), cabled=first.cabling
    )
    assert reached(later) is reached(first)
    other = Round(PLAN, Snapshot(RUN_AT, probes_of(PLAN, ("A",), lost=[LOST])), cabled=later.cabling)
    assert not reached(first).lost.any()
    assert reached(other).lost.any()
