"""A cut-through switch passes on what one link breaks: the other links are not to blame."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.switch_rounds import SONIC, checked, ethtool, of_rule, rounds, sonic_dump

PORTS = [f"Ethernet{8 * number}" for number in range(4)]
PLAN = "".join(f"gpu-{n + 1},host,eth0,leaf-0,leaf,{port},0,,400\n" for n, port in enumerate(PORTS))


def fabric(broken: int, **received: int) -> Mapping[str, str]:
    """What the leaf receives broken from gpu-1 in ten seconds, and each host from the leaf, so far."""
    leaf = {"SAI_PORT_STAT_IF_IN_ERRORS": broken, "SAI_PORT_STAT_IF_IN_FEC_NOT_CORRECTABLE_FRAMES": broken}
    clean = dict.fromkeys(leaf, 0)
    dump = sonic_dump({port: leaf if port == PORTS[0] else clean for port in PORTS})
    hosts = {
        f"gpu-{n}/ethtool_-S_eth0": ethtool({"rx_crc_errors_phy": received.get(f"gpu{n}", 0)}) for n in range(1, 5)
    }
    return {f"leaf-0/{SONIC}": dump, **hosts}


def severities(path: Path, each: Mapping[str, int], broken: int) -> dict[str, str]:
    """The severity of each link with errors; what the leaf and the hosts gain in each sample."""
    files = rounds(lambda n: fabric(broken * n, **{host: gained * n for host, gained in each.items()}), 13)
    report = checked(path, PLAN, files)
    _, findings = of_rule(report, "LNK004")
    found = {finding["subject"].partition("/")[0]: finding["severity"] for finding in findings}
    blamed = {subject.partition("/")[0] for cause in report["causes"] for subject in cause["subjects"]}
    assert blamed == {host for host, severity in found.items() if severity != "info"}
    return found


@pytest.mark.parametrize(
    ("each", "broken", "expected"),
    [
        ({"gpu2": 100, "gpu3": 100}, 200, {"gpu-1": "critical", "gpu-2": "info", "gpu-3": "info"}),
        ({"gpu2": 200, "gpu3": 100}, 200, {"gpu-1": "critical", "gpu-2": "critical", "gpu-3": "critical"}),
        ({"gpu2": 100}, 0, {"gpu-2": "critical"}),
        ({"gpu1": 100}, 200, {"gpu-1": "critical"}),
    ],
    ids=["passed on", "more than it receives", "none received", "back on the same link"],
)
def test_what_a_switch_passes_on_is_information(
    tmp_path: Path, each: Mapping[str, int], broken: int, expected: Mapping[str, str]
) -> None:
    assert severities(tmp_path, each, broken) == expected
