"""What the rules of the path sweep say where paths change, addresses are unknown, or cables are parallel."""

from rules import rules
from rules._examples import Facts, swept_example, together
from rules._probes import sweep_of
from truerail.analysis.rule import Case, Evaluated
from truerail.model.facts import NetAddress
from truerail.testing.cases import scene

PLAN = rules()["PRB005"].fires[0].plan
ALL = ("PRB004", "PRB005", "PRB007", "PRB008")
PARALLEL = """
    h1/nic0 leaf-0/p1 rail=0
    h2/nic0 leaf-1/p1 rail=0
    leaf-0/up0 spine-0/d0
    leaf-0/up1 spine-0/d1
    leaf-1/up0 spine-0/d2
"""


def way(flow: int, turn: int = 0) -> tuple[str, ...]:
    return "leaf-0", f"spine-{(flow + turn) % 4}", "leaf-1"


def looked(facts: Facts, plan: str = PLAN) -> dict[str, Evaluated]:
    made = scene(Case(facts, plan=plan))
    return {code: rules()[code].look(made) for code in ALL}


def reasons(found: Evaluated) -> str:
    return "; ".join(part.why for part in found.not_evaluated)


def test_where_paths_change_choices_do_not_apply_and_loss_is_seated_at_devices() -> None:
    lost = {"lost": lambda flow: 3}
    found = looked(together(swept_example(way, **lost), swept_example(lambda flow: way(flow, 1), **lost)))
    assert not found["PRB004"].applies
    assert not found["PRB008"].applies
    assert "paths change" in reasons(found["PRB005"])
    assert "paths change" in reasons(found["PRB007"])
    (one,) = found["PRB007"].findings
    assert one.subject == "leaf-0" or one.subject == "h1/nic0"


def test_addresses_that_no_device_has_are_shown() -> None:
    facts = {device: of for device, of in swept_example(way).items() if not isinstance(of[0], NetAddress)}
    assert "they answer from 10.200.0.0" in reasons(looked(facts)["PRB005"])
    assert len(swept_example(way)) == len(facts) + 6, "two leaves and four spines report addresses"
    one_unknown = {device: of for device, of in swept_example(way).items() if device != "spine-2"}
    assert "1 answer from unknown addresses (10.201.2.0)" in reasons(looked(one_unknown)["PRB005"])


def test_one_of_parallel_cables_is_found_by_its_counters() -> None:
    facts = swept_example(
        lambda _: ("leaf-0", "spine-0", "leaf-1"),
        lost=lambda flow: 100 * (flow % 2),
        deepest=lambda flow: 9 - 8 * (flow % 2),
    )
    found = [one for code in ("PRB005", "PRB007") for one in looked(facts, PARALLEL)[code].findings]
    assert "leaf-0" in {one.subject for one in found}
    assert {one.rule for one in found} == {"PRB005"}


def test_a_path_without_choices_has_no_unused_link() -> None:
    plan = "h1/nic0 leaf-0/p1 rail=0\nh2/nic0 leaf-1/p1 rail=0\nleaf-0/u spine-0/p0\nleaf-1/u spine-0/p1"
    found = looked(swept_example(lambda _: ("leaf-0", "spine-0", "leaf-1")), plan)
    assert "no flow passed a switch with a choice" in reasons(found["PRB008"])


def test_flows_that_were_asked_at_the_first_hop_alone_hide_no_unused_link() -> None:
    """As those of the usual lists, beside a sweep."""
    fires = rules()["PRB008"].fires[0]
    found = looked(together(fires.facts, swept_example(lambda _: ("leaf-0",), 300, number=1)), fires.plan)["PRB008"]
    assert ([one.subject for one in found.findings], reasons(found)) == (["leaf-0/up2"], "")


def test_a_seat_that_is_a_device_is_its_subject() -> None:
    sweep = sweep_of(scene(Case(plan=PLAN)), rules()["PRB005"])
    assert sweep.subject([4 * sweep.graph.cables + sweep.graph.index.devices.find("leaf-1")]) == "leaf-1"
