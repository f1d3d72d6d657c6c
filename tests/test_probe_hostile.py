"""Probes among bad neighbours: two runs at once, hosts that answer nonsense or for others, odd spellings."""

import json
from datetime import UTC, datetime

import pytest

from rules._examples import heard, sent
from truerail.analysis.probes.reached import Reached, reached
from truerail.analysis.probes.upper_links import first_hops
from truerail.analysis.round import Round
from truerail.analysis.rule import Case
from truerail.cli.probing import other_version
from truerail.model import NetAddress, ProbeHop, ProbeTrouble, Reading, Snapshot
from truerail.model.facts import Fact
from truerail.probe.flow_columns import FlowList
from truerail.probe.follow_ups import unfit
from truerail.probe.host_tasks import Settings, plan_run
from truerail.probe.pinglists import Nic, nics_of, pairs_of
from truerail.probe.runner import Run
from truerail.rounds import evaluate
from truerail.testing.cases import plan_of

AT = datetime(2026, 11, 20, 14, tzinfo=UTC)
PLAN = plan_of(Case(plan="\n".join(f"h{n}/nic0 leaf-0/p{n} rail=0" for n in (1, 2, 3))))
SENT = sent(0, "nic0", "h2", "nic0")
NICS = [Nic(f"h{n}", "nic0", f"10.0.0.{n}", "leaf-0", (0, 0), n - 1) for n in (1, 2, 3)]
PLANNED = plan_run(pairs_of(PLAN, NICS, ("A",)), Settings(what=("reach",)), AT, {})


def _answer(host: str, **changed: object) -> str:
    """What a host prints that does as it was given."""
    flows = PLANNED.flows
    own = {
        "sends": [{**flows.about(place), "left_by": "nic0"} for place in flows.sent_by(host).tolist()],
        "hears": [flows.expected(place) for place in flows.heard_by(host).tolist()],
    }
    tables = {name: [] for name in ("sent", "heard", "hops", "trouble")}
    return json.dumps({"truerail_probe": 1, "run": PLANNED.run, "host": host, **own, **tables, **changed})


def _round(**facts: tuple[Fact, ...]) -> Round:
    return Round(PLAN, Snapshot(AT, [Reading(host, "probe_results", AT, of) for host, of in facts.items()]))


def _flows(**facts: tuple[Fact, ...]) -> Reached:
    return reached(_round(**facts))


@pytest.mark.parametrize("what", ["EADDRINUSE", "EADDRNOTAVAIL"], ids=["another run's port", "an address in a VRF"])
def test_what_a_host_could_not_begin_to_send_is_no_loss(what: str) -> None:
    held = ProbeTrouble("nic0", what, 3, "r", 0)
    round = _round(h1=(SENT._replace(sent=0), held), h2=(heard(0, "nic0", "h1", "nic0", 0),))
    flows = reached(round)
    assert (flows.refused.tolist(), flows.judged.tolist()) == ([False], [False])
    assert not [one for one in evaluate(round).findings if one.rule == "PRB001"]
    no_route = held._replace(what="ENETUNREACH")
    flows = _flows(h1=(SENT._replace(sent=0), no_route), h2=(heard(0, "nic0", "h1", "nic0", 0),))
    assert flows.lost.tolist() == [True]


def test_a_host_speaks_for_its_own_nics_alone() -> None:
    claimed = heard(0, "nic0", "h1", "nic0")
    flows = _flows(h1=(SENT,), h3=(claimed,))
    assert (flows.arrived.tolist(), flows.judged.tolist()) == ([False], [False]), "no listener: unknown"
    flows = _flows(h1=(SENT,), h2=(heard(0, "nic0", "h1", "nic0", 0),), h3=(claimed,))
    assert flows.lost.tolist() == [True]


@pytest.mark.parametrize("claimed", ["fe80::1%x\nroute flush table main", "ff02::1", "::", "fd00::1/64"])
def test_no_probe_is_sent_to_what_is_no_address_of_one_nic(claimed: str) -> None:
    claims = {"h1": (NetAddress("nic0", claimed, 64),), "h2": (NetAddress("nic0", "fd00::2", 64),)}
    assert [nic.host for nic in nics_of(_round(**claims), 6).nics] == ["h2"]


def test_an_address_is_known_in_any_spelling() -> None:
    hop = ProbeHop("nic0", "h2", "nic0", "r", 0, 50000, 1, 96, 1, "2001:db8::1", 1, "time exceeded")
    round = _round(h1=(SENT._replace(mode="wired"), hop))
    switch = Reading("leaf-0", "net_address", AT, (NetAddress("lo", "2001:0DB8:0::0001", 128),))
    named = first_hops(Round(PLAN, Snapshot(AT, [*round.snapshot.readings, switch])))
    assert {cable: PLAN.cables[cable].b.device for cable in named} == {0: "leaf-0"}
    assert [device for device, _ in named.values()] == [round.cabling.index.devices.find("leaf-0")]


def test_one_answer_that_is_not_understood_costs_its_own_host_alone() -> None:
    answers = {"h1": _answer("h1"), "h2": "Killed\n", "h3": _answer("h3", sent=[[7]])}
    found = unfit(PLANNED, answers)
    assert set(found) == {"h2", "h3"}
    run = Run(PLANNED, {}, piped=None, progress=lambda *_: None)
    run.answers |= answers
    run.reject(found)
    assert set(run.answers) == {"h1"}
    assert all(why.startswith("its answer is not understood: ") for why in run.left_out.values())


def test_an_answer_of_flows_that_are_another_hosts_is_not_taken() -> None:
    others, elsewhere = json.loads(_answer("h2")), [{**json.loads(_answer("h1"))["hears"][0], "peer": "h9"}]
    of_others = {"sends": others["sends"]}, {"hears": others["hears"]}, {"hears": elsewhere}
    answers = {
        "h1": [_answer("h1", **changed) for changed in of_others],
        "h2": [_answer("h2", run="another"), _answer("h1")],
    }
    for host, texts in answers.items():
        assert unfit(PLANNED, {host: _answer(host)}) == {}
        assert unfit(PLANNED, {host: _answer(host, sends=[], hears=[])}) == {}, "it may have tried fewer"
        for text in texts:
            assert unfit(PLANNED, {host: text}) == {host: "its answer is of other flows than those that it was given"}


def test_a_fabric_with_addresses_of_the_other_version_says_so() -> None:
    readings = [
        Reading(f"h{n}", "net_address", AT, (NetAddress("nic0", f"{net}{n}", 64),))
        for n, net in ((1, "fd00::"), (2, "fd00::"))
    ]
    round = Round(PLAN, Snapshot(AT, readings))
    assert other_version(round, 4) == ["the NICs have IPv6 addresses alone: add --ipv6"]
    assert other_version(round, 6) == []
    assert other_version(Round(PLAN, Snapshot(AT, ())), 4) == []


def test_a_fabric_without_a_nic_that_can_be_probed_has_an_empty_plan() -> None:
    plan = plan_run((), Settings(), AT, {})
    assert (plan.hosts, plan.packets().total(), plan.answers_asked(), plan.seconds) == ([], 0, {}, 1.0)
    assert len(FlowList().flows()) == 0
    assert plan.recording_of("h1", "no address")["sends"] == []
