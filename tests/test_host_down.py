"""A host that is off has one word everywhere, on Ethernet and on InfiniBand: host down."""

import json
from pathlib import Path

import pytest

from rules._examples import hears
from tests.live_site import Run
from truerail.model import CauseKind, Fact, NetLink
from truerail.rounds import evaluate
from truerail.simulator import Fault, Shape, simulate
from truerail.testing.cases import Case, scene

FABRICS = {"ethernet": {}, "infiniband": {"platforms": ("infiniband",), "host_ports": "rdma"}}


@pytest.fixture(params=FABRICS)
def site(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Path, Path]:
    """A host that is off; its capture and plan."""
    shape = Shape(hosts=8, rails=4, spines=2, uplinks=4, **FABRICS[request.param])  # type: ignore[arg-type]  # by name
    made = simulate(shape, [Fault(CauseKind.UNREACHABLE, "off")], seed=3, folders="inventory")
    (cause,) = made.truth.causes
    return cause.subjects[0], made.write(tmp_path), tmp_path / "plan.csv"


def test_findings_cause_and_questions_call_it_by_one_word(site: tuple[str, Path, Path], run: Run) -> None:
    host, capture, plan = site
    source = ("--from", capture, "--plan", plan)
    code, out, _ = run("check", *source, "--format", "json")
    report = json.loads(out)
    (cause,) = report["causes"]
    assert (code, cause["kind"]) == (0, "unreachable")
    assert cause["summary"] == f"{host} is down: it does not answer, and none of its 4 cables has link"
    for finding in report["findings"]:
        assert "host down" in finding["summary"], finding
        assert finding["action"] == cause["action"] == f"Check that {host} is powered."
    _, where, _ = run("where", host, *source)
    assert "state unknown: host down: it does not answer, and none of its ports has link" in " ".join(where.split())
    _, job, _ = run("job", "gpu-00[1-4]", *source)
    assert f"Perhaps: host {host} is down, which leaves the rails of 1 of your 4 hosts unknown." in " ".join(
        job.split()
    )
    _, blast, _ = run("blast", host, *source)
    assert f"{host} is down." in blast
    for text in (where, job, blast):
        assert not any(word in text for word in ("not powered", "pending", "no answer", "unpowered"))


def test_a_host_that_does_not_answer_and_has_link_is_not_down(tmp_path: Path, run: Run) -> None:
    made = simulate(
        Shape(hosts=8, rails=4, spines=2, uplinks=4),
        [Fault(CauseKind.UNREACHABLE, "hung")],
        seed=3,
        folders="inventory",
    )
    host = made.truth.causes[0].subjects[0]
    capture = made.write(tmp_path)
    _, out, _ = run("check", "--from", capture, "--plan", tmp_path / "plan.csv", "--format", "json")
    (cause,) = json.loads(out)["causes"]
    assert (cause["summary"], cause["action"]) == (f"{host} does not answer", f"Check the management access to {host}.")
    assert "host down" not in out


def test_many_hosts_that_are_down_are_one_block_with_the_right_step(tmp_path: Path, run: Run) -> None:
    made = simulate(
        Shape(hosts=16, rails=4, spines=2, uplinks=4),
        [Fault(CauseKind.UNREACHABLE, "off")] * 4,
        seed=3,
        folders="inventory",
    )
    _, out, _ = run("check", "--from", made.write(tmp_path), "--plan", tmp_path / "plan.csv")
    text = " ".join(out.split())
    assert "4 devices are down: no answer, and no link on their cables. Check that they are powered." in text
    assert "management access" not in text


@pytest.mark.parametrize("off", ["leaf-0", "spine-1"])
def test_a_switch_that_is_off_explains_the_uplinks_that_are_lost(off: str) -> None:
    hosts = [f"gpu-{n} leaf-{leaf} {leaf}" for n in range(1, 5) for leaf in (0, 1)]
    lower = [f"{h}/nic{r} {leaf}/swp{h[-1]} rail={r}\n" for h, leaf, r in map(str.split, hosts)]
    upper = [f"leaf-{leaf}/swp{10 + s} spine-{s}/swp{leaf + 1}\n" for leaf in (0, 1) for s in (1, 2)]
    facts: dict[str, list[Fact]] = {}
    for cable in lower + upper:
        ends = [end.split("/") for end in cable.split()[:2]]
        for (device, port), (far, far_port) in (ends, ends[::-1]):
            dark = off in (device, far)
            facts.setdefault(device, []).append(NetLink(port, operstate="DOWN" if dark else "UP", flags=("UP",)))
            if not dark:
                facts[device].append(hears(port, f"{far}/{far_port}"))
    del facts[off]
    evaluation = evaluate(scene(Case(facts, plan="".join(lower + upper), errors={off: "timed out"})))
    assert "CAP001" in {finding.rule for finding in evaluation.findings}
    assert [(cause.kind, cause.subjects) for cause in evaluation.causes] == [(CauseKind.UNREACHABLE, (off,))]
