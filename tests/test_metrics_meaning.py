"""What the metrics say of a fabric: unknown is not wrong, missing is absent, and series vanish with their cause."""

from dataclasses import replace
from datetime import timedelta

from tests.each import each
from tests.metrics_pages import COUNTERS, NOW, RUNS, Read, all_samples, page, published
from tests.small_fabric import AT, World, make_plan
from truerail.analysis.published import JournalHealth, JournalState, Published
from truerail.model import (
    Cable,
    CauseKind,
    Device,
    Finding,
    GpuNicPath,
    Neighbor,
    Plan,
    Port,
    RdmaLink,
    Reading,
    Role,
    Severity,
    Snapshot,
    Status,
    Verdict,
)
from truerail.model.life import Life, LifeState, Mute, MuteKind
from truerail.outputs.metrics import Exposition
from truerail.plans.inference import infer
from truerail.simulator import Shape, simulate

RIGHT, UNKNOWN, MISSING, WRONG = 0, 1, 2, 3


def read(publication: Published | None) -> Read:
    return Read(page(publication))


def of_world(world: World) -> Read:
    return read(published(world.plan, world.snapshot()))


def link(reported: Read, host: str, nic: str) -> float | None:
    return reported("link_state", host=host, nic=nic)


def test_a_whole_fabric() -> None:
    reported = of_world(World(make_plan(4, 4)))
    assert {value for _, value in reported.series("link_state")} == {RIGHT}
    assert reported("links", state="right") == 16
    assert reported("links") == 16
    assert reported("uplinks", state="right") == 8
    assert reported("hosts", state="right") == 4
    assert reported("findings") == 0
    assert reported("causes") == reported("cause_moves") == 0
    assert reported("device_findings") is None
    assert reported("link_actual_info") is None
    assert reported("links_verified", verified="both ends") == 16
    assert {value for _, value in reported.series("rail_right_ratio")} == {1}


def test_a_swap_is_wrong_and_says_where_it_is() -> None:
    world = World(make_plan(4, 4))
    world.swap(Port("h1", "nica"), Port("h1", "nicc"))
    reported = of_world(world)
    assert link(reported, "h1", "nica") == link(reported, "h1", "nicc") == WRONG
    assert link(reported, "h1", "nicb") == RIGHT
    ((seen, _),) = reported.series("link_actual_info", host="h1", nic="nica")
    assert (seen["actual_switch"], seen["actual_switch_port"], seen["actual_rail"]) == ("leaf-2", "swp1", "2")
    assert seen["action"] == "move"
    assert reported("device_findings", host="h1", rail="0", rule="CAB001", severity="critical", muted="no") == 1
    assert reported("causes", kind="cable-swap", muted="no") == 1
    assert reported("cause_moves", kind="cable-swap") == 2
    assert reported("host_links", host="h1", state="wrong") == 2
    assert reported("hosts", state="broken") == 1
    assert reported("rail_state", rail="0") == WRONG
    assert reported("rail_right_ratio", rail="0") == 0.75
    assert reported("rule_status", rule="CAB001", status="fail") == 1
    assert reported("rule_status", rule="CAB001") == 1, "one status holds"


def test_series_vanish_with_their_cause() -> None:
    world, exposition = World(make_plan(4, 4)), Exposition()
    world.swap(Port("h1", "nica"), Port("h1", "nicc"))
    exposition.page_of(published(world.plan, world.snapshot()))
    world.swap(Port("h1", "nica"), Port("h1", "nicc"))
    reported = Read(exposition.render(published(world.plan, world.snapshot()), None, COUNTERS, NOW).decode())
    assert reported("link_actual_info") is reported("device_findings") is None
    assert reported("findings", rule="CAB001") == 0


def test_unknown_is_neither_right_nor_wrong() -> None:
    world = World(make_plan(4, 4), unread={"h2", "leaf-0", "leaf-1", "leaf-2", "leaf-3"})
    reported = of_world(world)
    assert link(reported, "h2", "nica") == UNKNOWN
    assert reported("host_links", host="h2", state="unknown") == 4
    assert reported("host_links", host="h2", state="right") == 0
    assert reported("hosts", state="unknown") == 1
    assert reported("hosts", state="right") == 3
    assert reported("rail_state", rail="0") == UNKNOWN
    assert reported("links_verified", verified="none") == 4
    assert reported("links_verified", verified="one end") == 12
    assert reported("devices", role="leaf") == 4
    assert reported("devices_read", role="leaf") == 0
    assert reported("devices_read", role="host") == 3


def test_a_cable_without_link_is_missing() -> None:
    world = World(make_plan(4, 4))
    world.where[Port("h3", "nicb")] = None
    reported = of_world(world)
    assert link(reported, "h3", "nicb") == MISSING
    assert reported("links", rail="1", state="missing") == 1
    assert reported("rail_state", rail="1") == MISSING


def test_nothing_is_known_before_the_first_answer() -> None:
    reported = read(published(make_plan(2, 2), Snapshot(AT, [])))
    assert {value for _, value in reported.series("link_state")} == {UNKNOWN}
    assert reported("findings", rule="CAB001") is None, "a rule that could not evaluate has no findings, not 0 of them"
    assert reported("rule_status", rule="CAB001", status="unknown") == 1
    assert reported("devices_read") == 0
    assert reported("collector_last_success_timestamp_seconds") is None
    assert reported("gpu_nic_affinity") is None


def test_no_evaluation_yet_leaves_the_service_alone() -> None:
    exposition = Exposition()
    reported = Read(exposition.render(None, None, COUNTERS, NOW).decode())
    assert reported.names == {"truerail_build_info", "truerail_service_rounds_total", "truerail_service_event_streams"}
    assert exposition.render(None, "p1", COUNTERS, NOW) == b""
    assert exposition.render(None, "-", COUNTERS, NOW) == exposition.render(None, None, COUNTERS, NOW)


def test_a_rule_that_broke_has_no_findings() -> None:
    good = published(make_plan(2, 2), World(make_plan(2, 2)).snapshot())
    verdicts = (Verdict("CAB001", Status.ERROR, error="KeyError"), Verdict("CAB003", Status.PASS))
    reported = read(
        replace(good, evaluated=replace(good.evaluated, evaluation=replace(good.evaluation, verdicts=verdicts)))
    )
    assert reported("findings", rule="CAB001") is None
    assert reported("findings", rule="CAB003") == 0
    assert reported("rule_status", rule="CAB001", status="error") == 1


def test_where_no_rule_has_evaluated_causes_are_not_reported() -> None:
    good = published(make_plan(2, 2), World(make_plan(2, 2)).snapshot())
    reported = read(replace(good, evaluated=replace(good.evaluated, evaluation=replace(good.evaluation, verdicts=()))))
    assert reported("causes") is reported("cause_moves") is reported("findings") is reported("rule_status") is None


def test_mutes_are_distinguished() -> None:
    world = World(make_plan(4, 4))
    world.swap(Port("h1", "nica"), Port("h1", "nicc"))
    loud = published(world.plan, world.snapshot())
    first, *others = [f.id for f in loud.evaluation.findings]
    maintained = {first: Mute(MuteKind.MAINTENANCE, 1, "op", "work")}
    reported = read(replace(loud, mutes=maintained))
    assert reported("findings", muted="maintenance") == reported("device_findings", muted="maintenance") == 1
    assert reported("findings", muted="no") == len(others)
    assert reported("causes", kind="cable-swap", muted="no") == 1, "not all of its findings are muted"
    known = {finding: Mute(MuteKind.ACKNOWLEDGED, 2, "op", "known") for finding in others}
    assert read(replace(loud, mutes=maintained | known))("causes", kind="cable-swap", muted="acknowledged") == 1
    works = {finding: Mute(MuteKind.MAINTENANCE, 1, "op", "work") for finding in (first, *others)}
    assert read(replace(loud, mutes=works))("causes", kind="cable-swap", muted="maintenance") == 1


def test_lives_of_findings() -> None:
    world = World(make_plan(4, 4))
    world.swap(Port("h1", "nica"), Port("h1", "nicc"))
    bare = published(world.plan, world.snapshot())
    assert read(bare)("findings_by_state") is None, "nobody follows lives"
    held = Finding("CAB003", "cable_missing", Severity.CRITICAL, "h4/nica", "", "")
    states = dict.fromkeys((f.id for f in bare.evaluation.findings), LifeState.FLAPPING) | {held.id: LifeState.UNSEEN}
    lives = {finding: Life(finding, state, AT, AT, AT) for finding, state in states.items()}
    lives["gone"] = Life("gone", LifeState.RESOLVED, AT, AT, AT)
    reported = read(replace(bare, lives=lives, pending_resolution=(held,)))
    assert reported("findings_by_state", state="flapping") == len(bare.evaluation.findings)
    assert reported("findings_by_state", state="unseen", severity="critical") == 1
    assert reported("findings_by_state", state="new") == 0
    assert reported("findings_by_state", state="resolved") is None
    assert reported("device_findings", host="h4") is None, "held findings are in no other count"


def test_an_inferred_plan_is_reported_as_such() -> None:
    simulation = simulate(Shape(hosts=8, rails=4, spines=0), 0)
    seen = simulation.snapshot()
    plan = infer(seen).plan
    ((labels, _),) = read(published(plan, seen)).series("plan_info")
    assert (labels["inferred"], labels["digest"]) == ("yes", "d1")
    ((written, _),) = read(published(simulation.plan, seen)).series("plan_info")
    assert written["inferred"] == "no"


def test_two_planes_are_counted_apart() -> None:
    simulation = simulate(Shape(hosts=4, rails=2, planes=2, spines=0), 0)
    reported = read(published(simulation.plan, simulation.snapshot()))
    assert reported("links", rail="0", plane="0") == reported("links", rail="0", plane="1") == 4
    assert reported("rail_right_ratio", rail="0") == 1
    assert len(reported.series("rail_state")) == 2, "a rail is one, whatever its planes"
    assert {labels["plane"] for labels, _ in reported.series("link_state")} == {"0", "1"}


def test_several_cables_of_a_host_on_one_rail_are_several_links() -> None:
    devices = {"h1": Device("h1"), "leaf-0": Device("leaf-0", Role.LEAF)}
    cables = tuple(Cable(Port("h1", f"nic{n}"), Port("leaf-0", f"swp{n}"), rail=0) for n in range(3))
    world = World(Plan(devices, cables))
    world.swap(Port("h1", "nic0"), Port("h1", "nic1"))
    reported = of_world(world)
    assert [value for _, value in reported.series("link_state", host="h1", rail="0")] == [WRONG, WRONG, RIGHT]
    assert reported("links", rail="0") == 3


def test_a_port_that_a_plan_uses_twice_is_one_series() -> None:
    plan = make_plan(2, 2)
    twice = replace(plan, cables=(*plan.cables, Cable(plan.cables[0].a, Port("leaf-1", "swp9"), rail=1)))
    text = page(published(twice, World(plan).snapshot()))
    series = [(name, labels) for name, labels, _ in all_samples(text)]
    assert len(set(series)) == len(series)
    assert len(Read(text).series("link_state", host="h1", nic=plan.cables[0].a.name)) == 1


def test_cables_without_rail_have_no_rail_label() -> None:
    plan = make_plan(2, 2)
    bare = replace(plan, cables=tuple(cable._replace(rail=None) for cable in plan.cables))
    reported = read(published(bare, World(bare).snapshot()))
    assert reported("links", rail="") == 4
    assert reported("rail_state") is reported("rail_right_ratio") is None
    assert all("rail" not in labels for labels, _ in reported.series("link_state"))


def test_uplinks_stand_by_themselves() -> None:
    world = World(make_plan(2, 2))
    world.swap(Port("leaf-0", "swp101"), Port("leaf-0", "swp102"))
    reported = of_world(world)
    assert reported("uplink_state", switch="leaf-0", switch_port="swp101") == WRONG
    assert reported("uplink_state", switch="leaf-1", switch_port="swp101") == RIGHT
    assert reported("uplinks", state="wrong") == 2
    ((labels, _),) = reported.series("uplink_info", switch="leaf-0", switch_port="swp101")
    assert (labels["peer"], labels["peer_port"]) == ("spine-1", "swp1")
    assert reported("device_findings", switch="leaf-0", rule="CAB006")


def test_what_a_link_is_joins_node_exporter_and_dcgm_exporter() -> None:
    simulation = simulate(Shape(hosts=2, rails=8, spines=0), 0)
    reported = read(published(simulation.plan, simulation.snapshot()))
    ((labels, value),) = reported.series("link_info", host="gpu-001", rail="1")
    assert value == 1
    assert (labels["device"], labels["port"], labels["netdev"]) == ("mlx5_1", "1", "enp60s0f0np0")
    assert (labels["pci_bus_id"], labels["gpu"]) == ("00000000:3C:00.0", "1")
    assert (labels["switch"], labels["switch_port"], labels["rack"]) == ("leaf-1", "swp1", "r01")


def test_a_host_that_did_not_tell_has_no_names_of_its_own() -> None:
    reported = of_world(World(make_plan(4, 4), unread={"h2"}))
    ((labels, _),) = reported.series("link_info", host="h2", nic="nica")
    assert not labels.keys() & {"device", "port", "netdev", "pci_bus_id", "gpu"}
    assert labels["switch"] == "leaf-0"


def test_each_gpu_and_its_nearest_nic() -> None:
    world = World(make_plan(6, 4))
    world.nic_names["h2"] = {"nica": "nicb", "nicb": "nica"}
    reported = of_world(world)
    assert [value for _, value in reported.series("gpu_nic_affinity", host="h1")] == [1, 1, 1, 1]
    assert reported("gpu_nic_affinity", host="h2", gpu="0") == reported("gpu_nic_affinity", host="h2", gpu="1") == 0
    assert reported("gpu_nic_affinity", host="h2", gpu="2") == 1


def test_shared_nics_belong_to_several_gpus() -> None:
    simulation = simulate(Shape(hosts=6, rails=4, gpus=8, spines=0), 0)
    reported = read(published(simulation.plan, simulation.snapshot()))
    assert len(reported.series("gpu_nic_affinity", host="gpu-001", rail="0")) == 2
    ((labels, _),) = reported.series("link_info", host="gpu-001", rail="0")
    assert "gpu" not in labels, "no one GPU alone is nearest"


def test_without_topology_affinity_is_not_reported() -> None:
    reported = of_world(World(make_plan(4, 4), topology=False))
    assert reported("gpu_nic_affinity") is None
    assert all("gpu" not in labels for labels, _ in reported.series("link_info"))


def test_a_gpu_whose_rail_nobody_can_say_is_left_out() -> None:
    plan = make_plan(2, 2, spines=0)

    def host(name: str, order: tuple[int, int]) -> list[Reading]:
        links = tuple(RdmaLink(f"mlx5_{n}", 1, "ACTIVE", None, f"nic{'ab'[n]}") for n in (0, 1))
        paths = tuple(
            GpuNicPath(gpu, f"NIC{n}", f"mlx5_{n}", "PIX" if order[gpu] == n else "SYS")
            for gpu in (0, 1)
            for n in (0, 1)
        )
        return [Reading(name, "rdma_link", AT, links), Reading(name, "gpu_nic_topology", AT, paths)]

    split = Snapshot(AT, [*host("h1", (0, 1)), *host("h2", (1, 0))])
    assert read(published(plan, split))("gpu_nic_affinity") is None


def test_a_subject_that_the_plan_does_not_know_gives_no_name_away() -> None:
    good = published(make_plan(2, 2), World(make_plan(2, 2)).snapshot())
    stranger = Finding("CAB004", "unexpected_neighbor", Severity.WARNING, "<evil>/x", "", "")
    text = page(
        replace(good, evaluated=replace(good.evaluated, evaluation=replace(good.evaluation, findings=(stranger,))))
    )
    assert Read(text)("device_findings", host="", switch="", rule="CAB004") == 1
    assert "evil" not in text


def test_what_a_stranger_calls_itself_is_in_no_label() -> None:
    plan = make_plan(1, 1, spines=0)
    heard = Neighbor("nica", system_name="evil-<script>", port_id="x1", port_id_type="ifname", port_description="evil")
    publication = published(plan, Snapshot(AT, [Reading("h1", "lldp_host", AT, (heard,))]))
    text = page(publication)
    assert Read(text)("link_state") == WRONG
    ((labels, _),) = Read(text).series("link_actual_info")
    assert labels["action"] == "decide", "no device hears the planned leaf"
    assert not labels.keys() & {"actual_switch", "actual_switch_port", "actual_rail"}
    assert "evil" not in without_texts(text)
    ((labels, _),) = Read(text).series("cause_info", kind="cable-move")
    assert "evil-<script>" in labels["summary"]


def without_texts(text: str) -> str:
    """The page without the two metrics that carry sentences."""
    return "\n".join(
        line for line in text.splitlines() if not line.startswith(("truerail_cause_info{", "truerail_finding_info{"))
    )


def test_a_switch_that_names_no_port_is_reported_without_one() -> None:
    plan = make_plan(2, 2, spines=0)
    heard = Neighbor("nica", system_name="leaf-1")
    reported = read(published(plan, Snapshot(AT, [Reading("h1", "lldp_host", AT, (heard,))])))
    ((labels, _),) = reported.series("link_actual_info", host="h1", nic="nica")
    assert labels["actual_switch"] == "leaf-1"
    assert not labels.keys() & {"actual_switch_port", "actual_rail"}
    assert reported("links_verified", verified="device only") == 1


def test_sentences_are_only_on_the_info_of_causes_and_findings() -> None:
    simulation = simulate(Shape(hosts=16, rails=4, spines=2, uplinks=4), 4)
    publication = published(simulation.plan, simulation.snapshot())
    text = without_texts(page(publication))
    assert publication.evaluation.findings
    assert not [f for f in publication.evaluation.findings if f.summary in text or f.action in text or f.id in text]


def test_collectors_tell_how_their_rounds_go() -> None:
    reported = of_world(World(make_plan(2, 2)))
    assert reported("collector_interval_seconds", collector="if_snmp") == 60
    assert reported("collector_rounds_total", collector="lldp_host") == 4
    assert reported("collector_failures_total", collector="lldp_host") == 2
    assert reported("collector_missed_total", collector="lldp_host") == 1
    assert reported("collector_success", collector="lldp_host") == 1
    assert reported("collector_duration_seconds", collector="lldp_host") == 1.5
    assert reported("collector_last_round_timestamp_seconds", collector="lldp_host") == AT.timestamp()
    assert reported("collector_success", collector="if_snmp") is None, "it has not run yet"
    assert reported("collector_duration_seconds", collector="if_snmp") is None
    assert reported("collector_last_success_timestamp_seconds", collector="rdma_link") == AT.timestamp()


def test_a_round_without_any_answer_is_no_success_and_does_not_move_the_last_one() -> None:
    plan = make_plan(2, 2)
    failed = replace(RUNS["lldp_host"], devices_answered=0, last_at=NOW)
    readings = [Reading("h1", "lldp_host", AT), Reading("h2", "lldp_host", NOW, error="timeout")]
    reported = read(published(plan, Snapshot(NOW, readings), runs={"lldp_host": failed}))
    assert reported("collector_success") == 0
    assert reported("collector_last_success_timestamp_seconds") == AT.timestamp()
    assert reported("collector_age_seconds") == (NOW - AT).total_seconds()


def test_what_is_of_the_moment_is_current_at_the_scrape() -> None:
    exposition, world = Exposition(), World(make_plan(2, 2))
    publication = published(world.plan, world.snapshot())
    first = Read(exposition.render(publication, None, {"event_streams": 1}, NOW).decode())
    later = Read(exposition.render(publication, None, {"event_streams": 5}, NOW + timedelta(minutes=10)).decode())
    assert later("evaluation_age_seconds") == 630
    assert later("collector_age_seconds", collector="lldp_host") == 630
    assert (first("service_event_streams"), later("service_event_streams")) == (1, 5)
    failing = JournalState(JournalHealth.FAILING, "disk full", NOW, waiting=12, lost_total=3, written_total=9)
    gone = Read(exposition.render(replace(publication, journal=failing), None, {}, NOW).decode())
    assert gone("journal_health", health="failing") == 1
    assert gone("journal_health", health="keeping") == 0
    assert (gone("journal_queue_length"), gone("journal_lost_rounds_total")) == (12, 3)
    assert gone("journal_health_timestamp_seconds") == NOW.timestamp()


def test_a_journal_that_is_off_has_no_counters() -> None:
    plan = make_plan(2, 2)
    reported = read(published(plan, World(plan).snapshot(), journal=JournalState()))
    assert reported("journal_health", health="off") == 1
    assert reported("journal_queue_length") is reported("journal_written_rounds_total") is None


@each("kind", [*CauseKind])
def test_every_kind_of_cause_is_counted_from_the_start(kind: CauseKind) -> None:
    assert of_world(World(make_plan(2, 2)))("causes", kind=kind.value, muted="no") == 0


def test_more_than_nine_cables_of_a_host() -> None:
    reported = of_world(World(make_plan(2, 12, spines=0)))
    assert reported("host_links", host="h1", state="right") == 12
