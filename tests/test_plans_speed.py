"""A fabric loads in time that grows with its cables: on the path of every check, up to 100,000 GPUs."""

import pytest

from tests.draws import draws
from tests.patience import grows_with
from truerail.model import Severity
from truerail.plans import dump_csv, lint, loads

FABRIC = """
speed: 400
hosts: {nodes: "gpu-[00001-%(hosts)05d]", pod: "p[001-%(pods)03d]", nics: "nic[0-7]", gpus: 8}
leaves: {nodes: "p[001-%(pods)03d]-leaf-[0-7]", pod: "p[001-%(pods)03d]"}
spines: {nodes: "spine-[00-15]"}
host_links: {ports: "swp[1-125]"}
uplinks: {ports: "up[1-16]", to_ports: "swp[1-800]"}
"""


def fabric(pods: int) -> str:
    """A plan of so many pods of 125 hosts and 8 leaves, up to 100."""
    return FABRIC % {"pods": pods, "hosts": 125 * pods}


@pytest.mark.parametrize("suffix", [".yaml", ".csv"])
def test_a_plan_loads_in_time_that_grows_with_its_cables(suffix: str) -> None:
    texts = {size: fabric(10 * size) for size in (1, 4)}
    if suffix == ".csv":
        texts = {size: dump_csv(loads(text, ".yaml")) for size, text in texts.items()}
    counts: dict[int, int] = {}
    grows_with(lambda size: counts.update({size: len(loads(texts[size], suffix).cables)}))
    assert counts[4] == 40 * 1128


def test_a_large_fabric_has_no_fault_but_its_oversubscription_is_reported() -> None:
    found = lint(loads(fabric(pods := draws(20, 100)), ".yaml"))
    assert {(problem.value, problem.severity) for problem in found} == {("7.81:1", Severity.INFO)}
    assert len(found) == 8 * pods
