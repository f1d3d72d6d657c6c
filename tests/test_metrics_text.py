"""The text that is joined by hand means what prometheus-client's families mean, whatever things are called."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.draws import draws
from tests.metrics_pages import (
    COUNTERS,
    NOW,
    all_samples,
    families,
    family_of,
    meaning,
    page,
    published,
    text_of,
    with_traffic,
)
from tests.small_fabric import AT, World, make_plan
from truerail.analysis.published import Published
from truerail.model import Cable, Device, Plan, Port, Reading, Role, Severity, Snapshot
from truerail.model.life import Mute, MuteKind
from truerail.outputs.metrics import Exposition
from truerail.outputs.metrics.declared import declared
from truerail.outputs.metrics.metric_series import Rows, Series
from truerail.outputs.metrics.traffic_series import Measured
from truerail.simulator import Noise, Shape, simulate

HOSTILE = st.text(st.characters(codec="utf-8"), max_size=12) | st.sampled_from(
    ['"', "\\", "\n", 'a"} 1\ntruerail_link_state{host="b', "\\n", "\x1b[31m", "\u202e", "\ud800",
     "é", "x" * 300, "{}", " "]
)  # fmt: skip
NUMBERS = st.integers(0, 1 << 40) | st.floats(allow_nan=False, allow_infinity=False)
SHAPES = {
    "one pod": (Shape(hosts=12, rails=4, spines=2, uplinks=4), 3, Noise()),
    "pods under spines of no pod": (Shape(hosts=16, rails=4, pods=2, spines=2, uplinks=4), 4, Noise()),
    "much unread": (Shape(hosts=24, rails=4, pods=3, spines=2, uplinks=4), 2, Noise(unreachable=0.3, deaf=0.3)),
    "two planes": (Shape(hosts=8, rails=4, planes=2, spines=2, uplinks=4), 2, Noise()),
    "shared NICs": (Shape(hosts=8, rails=4, gpus=8, spines=0), 1, Noise()),
    "planned by RDMA device": (Shape(hosts=8, rails=4, host_ports="rdma", spines=2, uplinks=4), 1, Noise()),
}


def _nameable(text: str) -> bool:
    """Whether a plan can hold it: half of a surrogate pair is no text that a file can spell."""
    return bool(text) and not any("\ud800" <= character <= "\udfff" for character in text)


def simulated(name: str) -> Published:
    shape, faults, noise = SHAPES[name]
    simulation = simulate(shape, faults, noise, seed=5)
    return with_traffic(published(simulation.plan, simulation.snapshot()))


@settings(max_examples=draws(30, 300))
@given(st.lists(st.tuples(HOSTILE, HOSTILE, HOSTILE, NUMBERS, st.integers(0, 2)), max_size=8), HOSTILE)
def test_joined_text_means_what_the_family_means(rows: list[tuple[str, str, str, float, int]], fabric: str) -> None:
    rows = sorted(rows, key=lambda row: row[4])
    hosts, nics, states = ([row[place] for row in rows] for place in range(3))
    about = Rows(fabric, {"host": hosts, "nic": nics}, np.array([row[4] for row in rows], dtype=np.int64), 3)
    series = Series(declared("host_links"), about, [row[3] for row in rows], {"state": states})
    joined = b"".join(series.block.parts(None)).decode()
    assert meaning(joined) == meaning(text_of([family_of(series)]))
    assert joined.count("\n") == (len(rows) + 2 if rows else 0), "each series is one line"
    assert all_samples("".join(b"".join(series.block.parts(pod)).decode() for pod in range(3))) == all_samples(joined)


RATES = st.just(float("nan")) | st.floats(0, 1e12) | st.floats(0, 1) | st.just(0.0)


@settings(max_examples=draws(40, 300))
@given(st.lists(st.tuples(HOSTILE, st.integers(0, 2)), max_size=8), st.data())
def test_measured_values_mean_what_the_family_means(rows: list[tuple[str, int]], data: st.DataObject) -> None:
    rows = sorted(rows, key=lambda row: row[1])
    about = Rows("lab", {"host": [row[0] for row in rows]}, np.array([row[1] for row in rows], dtype=np.int64), 3)
    metric = Measured(declared("link_state"), about)
    for _ in range(3):
        values = np.array(data.draw(st.lists(RATES, min_size=len(rows), max_size=len(rows))), dtype=np.float64)
        block = metric.block(values)
        for pod in (None, 0, 1, 2):
            chosen = [value for value, row in zip(values, rows, strict=True) if pod in (None, row[1])]
            reported = sorted(value for *_, value in all_samples(b"".join(block.parts(pod)).decode()))
            assert reported == pytest.approx(sorted(value for value in chosen if value == value), rel=1e-4)
        whole = b"".join(block.parts(None)).decode()
        assert meaning(whole) == meaning(text_of([family_of(metric.series(values))]))


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0.0000e+00"), (48123456789, "4.8123e+10"), (1, "1.0000e+00"), (0.99999951, "1.0000e+00"),
     (99999.6, "1.0000e+05"), (0.05, "5.0000e-02"), (1e-45, "1.0000e-45"), (1e-300, "0.0000e+00")],
)  # fmt: skip
def test_a_measured_value_has_five_digits(value: float, text: str) -> None:
    metric = Measured(declared("link_state"), Rows("lab", {}, np.zeros(1, dtype=np.int64), 1))
    (line,) = metric.block(np.array([value], dtype=np.float64)).pods
    assert bytes(line).decode().rpartition(" ")[2] == text + "\n"


def test_what_is_measured_the_same_again_is_the_same_text() -> None:
    metric = Measured(declared("link_state"), Rows("lab", {}, np.zeros(2, dtype=np.int64), 1))
    values = np.array([1.0, np.nan])
    first = metric.block(values)
    assert metric.block(values) is first
    assert metric.block(values + 1) is not first
    assert bytes(first.pods[0]).count(b"\n") == 1, "what was sent stays what it was"


@pytest.mark.parametrize("name", SHAPES)
def test_the_page_means_what_the_families_mean(name: str) -> None:
    publication = simulated(name)
    assert meaning(page(publication)) == meaning(text_of(families(publication)))


@settings(max_examples=draws(8, 100))
@given(st.lists(HOSTILE.filter(_nameable), min_size=6, max_size=6, unique_by=lambda name: name[:100]), HOSTILE)
def test_whatever_a_plan_calls_things(names: list[str], pod: str) -> None:
    host, leaf, nic, port, rack, fabric = names
    devices = {host: Device(host, pod=pod, rack=rack), leaf: Device(leaf, Role.LEAF, pod)}
    plan = Plan(devices, (Cable(Port(host, nic), Port(leaf, port), rail=0),), name=rack)
    publication = replace(published(plan, Snapshot(AT, [Reading(host, "lldp_host", AT)])), fabric=fabric)
    assert meaning(page(publication)) == meaning(text_of(families(publication)))
    assert len([sample for sample in all_samples(page(publication)) if sample[0] == "truerail_link_state"]) == 1


@pytest.mark.parametrize("name", SHAPES)
def test_slices_add_up_to_the_whole_without_any_series_twice(name: str) -> None:
    publication, exposition = simulated(name), Exposition()
    pods = sorted({device.pod for device in publication.plan.devices.values()} - {""})
    slices = [exposition.render(publication, pod, COUNTERS, NOW).decode() for pod in (*pods, "-")]
    together = sorted(sample for text in slices for sample in all_samples(text))
    assert together == all_samples(exposition.render(publication, None, COUNTERS, NOW).decode())
    series = [(metric, labels) for metric, labels, _ in together]
    assert len(set(series)) == len(series)


def test_a_slice_holds_its_pod_alone() -> None:
    publication = simulated("pods under spines of no pod")
    text = Exposition().render(publication, "p2", COUNTERS, NOW).decode()
    assert {dict(labels).get("pod") for _, labels, _ in all_samples(text)} == {"p2"}


def test_a_pod_called_like_the_rest_comes_with_the_rest() -> None:
    plan = make_plan(2, 2)
    plan = replace(plan, devices={name: replace(device, pod="-") for name, device in plan.devices.items()})
    publication = published(plan, World(plan).snapshot())
    assert all_samples(Exposition().render(publication, "-", COUNTERS, NOW).decode()) == all_samples(page(publication))


def test_an_unknown_pod_is_named() -> None:
    publication, exposition = simulated("pods under spines of no pod"), Exposition()
    with pytest.raises(LookupError, match=r"no pod is called 'p3'; known are p1, p2, -"):
        exposition.render(publication, "p3", COUNTERS, NOW)
    with pytest.raises(LookupError, match=r"no pod is called ''; known are p1, p2, -"):
        exposition.render(publication, "", COUNTERS, NOW)


def test_the_same_publication_is_rendered_once() -> None:
    exposition, publication = Exposition(), simulated("one pod")
    exposition.page_of(publication)
    kept = exposition.page_of(publication)
    exposition.render(publication, None, COUNTERS, NOW)
    exposition.render(publication, "-", COUNTERS, NOW)
    assert exposition.page_of(publication) is kept


def test_a_later_evaluation_shows_nothing_of_an_earlier_one() -> None:
    plan = make_plan(6, 4)
    exposition, world = Exposition(), World(plan)
    steps = [world.snapshot()]
    world.swap(Port("h1", "nica"), Port("h1", "nicb"))
    world.nic_names["h2"] = {"nica": "nicb", "nicb": "nica"}
    steps.append(world.snapshot())
    world.unread |= {"h3", "leaf-2"}
    world.topology = False
    steps += [world.snapshot(), World(plan).snapshot()]
    for number, seen in enumerate(steps):
        publication = with_traffic(published(plan, seen), seed=number)
        kept = exposition.render(publication, None, COUNTERS, NOW).decode()
        assert meaning(kept) == meaning(page(publication))


def test_another_plan_or_another_fabric_shows_nothing_of_the_last() -> None:
    exposition = Exposition()
    for hosts, fabric in ((3, "lab"), (4, "lab"), (4, "other")):
        plan = make_plan(hosts, 2)
        publication = replace(published(plan, World(plan).snapshot()), fabric=fabric)
        assert meaning(exposition.render(publication, None, COUNTERS, NOW).decode()) == meaning(page(publication))


def test_an_acknowledgement_shows_at_once() -> None:
    plan = make_plan(4, 2)
    world = World(plan)
    world.swap(Port("h1", "nica"), Port("h1", "nicb"))
    loud = published(plan, world.snapshot())
    finding = next(f for f in loud.evaluation.findings if f.severity is Severity.CRITICAL)
    quiet = replace(loud, mutes={finding.id: Mute(MuteKind.ACKNOWLEDGED, 1, "op", "known")})
    exposition = Exposition()
    exposition.page_of(loud)
    assert (
        meaning(exposition.render(quiet, None, COUNTERS, NOW).decode()) == meaning(page(quiet)) != meaning(page(loud))
    )
