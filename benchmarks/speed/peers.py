"""The same work by other tools, in an environment of their own (requirements/bench.txt): prints one JSON object.

    .venv-bench/bin/python -m benchmarks.speed.peers work.json

`work.json` holds the links of a fabric as each tool wants them, and the texts to read (see `work.py`). What is timed
is the comparison or the reading alone: no start-up, no inputs made, garbage collection as usual.
"""

import asyncio
import copy
import io
import json
import logging
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.speed.clock import best

TOPO = """\
Value Required ROW (GPU\\d+|NIC\\d+)
{values}

Start
  ^\\t -> Matrix

Matrix
  ^${{ROW}}\\t{cells}\\t -> Record
  ^NIC Legend -> Legend

Legend
  ^\\s+${{ROW}}: ${{C0}} -> Record
"""
RDMA = """\
Value DEVICE (\\S+)
Value PORT (\\d+)
Value STATE (\\S+)
Value PHYSICAL (\\S+)
Value NETDEV (\\S+)

Start
  ^link ${DEVICE}/${PORT} state ${STATE} physical_state ${PHYSICAL} netdev ${NETDEV} -> Record
"""


def textfsm_seconds(template: str, text: str, rows: int) -> float:
    """Reading a text with a template that is compiled beforehand. Raises ValueError where it reads another count."""
    import textfsm  # in .venv-bench only

    machine = textfsm.TextFSM(io.StringIO(template))

    def read() -> list[list[str]]:
        machine.Reset()
        rows: list[list[str]] = machine.ParseText(text)
        return rows

    if len(read()) != rows:
        raise ValueError(f"the template reads {len(read())} rows, not {rows}")
    return best(read, repeats=50)


def topo_template(columns: int) -> str:
    """A template for a matrix of so many GPUs and NICs."""
    values = "\n".join(f"Value C{i} (\\S+)" for i in range(columns))
    return TOPO.format(values=values, cells="\\t".join(f"\\s?${{C{i}}}\\s?" for i in range(columns)))


def anta_seconds(switches: list[dict[str, Any]]) -> tuple[float, float]:
    """VerifyLLDPNeighbors on every switch: the comparison alone, and with the making of its inputs."""
    logging.disable(logging.CRITICAL)
    runs = [asyncio.run(_anta_run(switches)) for _ in range(3)]
    return min(alone for alone, _ in runs), min(whole for _, whole in runs)


async def _anta_run(switches: list[dict[str, Any]]) -> tuple[float, float]:
    from unittest.mock import Mock

    from anta.tests.connectivity import VerifyLLDPNeighbors  # type: ignore[import-not-found]  # in .venv-bench only

    devices = [_device(Mock(), switch["name"]) for switch in switches]
    started = time.perf_counter()
    tests = [
        VerifyLLDPNeighbors(device, {"neighbors": switch["anta"], "require_fqdn": False}, [switch["eos"]])
        for device, switch in zip(devices, switches, strict=True)
    ]
    ready = time.perf_counter()
    for test in tests:
        await test.test()
    done = time.perf_counter()
    if any(test.result.result != "success" for test in tests):
        raise ValueError("ANTA finds the links wrong")
    return done - ready, done - started


def _device(mock: Any, name: str) -> Any:
    """A device that no one connects to."""
    mock.name = name
    return mock


def napalm_seconds(switches: list[dict[str, Any]]) -> float:
    """napalm-validate's comparison on every switch."""
    from napalm.base.validate import compare  # type: ignore[import-not-found]  # in .venv-bench only

    shortest = float("inf")
    for _ in range(3):
        pairs = [(copy.deepcopy(switch["napalm_expected"]), switch["napalm_actual"]) for switch in switches]
        started = time.perf_counter()
        complies = [compare(expected, actual)["complies"] for expected, actual in pairs]
        shortest = min(shortest, time.perf_counter() - started)
        if not all(complies):
            raise ValueError("napalm finds the links wrong")
    return shortest


def ntc_seconds(text: str, rows: int) -> float:
    """`show lldp neighbors detail` of NX-OS with the template of ntc-templates."""
    import ntc_templates  # in .venv-bench only

    folder = Path(ntc_templates.__file__).parent / "templates"
    template = (folder / "cisco_nxos_show_lldp_neighbors_detail.textfsm").read_text()
    return textfsm_seconds(template, text, rows)


def main() -> None:
    """Times everything that the file asks for."""
    work = json.loads(Path(sys.argv[1]).read_text())
    links = sum(len(switch["anta"]) for switch in work["switches"])
    anta, anta_whole = anta_seconds(work["switches"])
    seconds = {
        "topo": textfsm_seconds(topo_template(work["columns"]), work["topo"], work["topo_rows"]),
        "rdma": textfsm_seconds(RDMA, work["rdma"], work["rdma_rows"]),
        "nxos": ntc_seconds(work["nxos"], work["nxos_rows"]),
        "anta": anta / links,
        "anta_whole": anta_whole / links,
        "napalm": napalm_seconds(work["switches"]) / links,
    }
    print(json.dumps({"seconds": seconds, "links": links}))  # noqa: T201 - its caller reads this


if __name__ == "__main__":
    main()
