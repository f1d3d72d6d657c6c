"""What RDMA tests between two NICs showed: the JSON that `truerail probe --heavy` stores, with the output of perftest.

Question: does RDMA pass between these two NICs, and how many bits a second?
Needs: a run of `truerail probe --heavy`. No round of polls tests anything: this answer comes from its recordings.

Format: one object, version 1: `run`, `host` and `tests`. A test has its number, the role of this host, its NIC, the
peer and its NIC, `why` (null, or the reason for which nothing was run) and for each program its exit status and output.

`ib_write_bw` ends with a header and a row of numbers, the same in all versions but for its unit. Source:
linux-rdma/perftest, `RESULT_FMT`, `RESULT_FMT_G` and `REPORT_FMT` in src/perftest_parameters.h, and `print_report_bw`:

| header | printed by | unit |
|---|---|---|
| `BW average[MB/sec]` | old versions | 2^20 octets a second (`format_factor` is 0x100000) |
| `BW average[MiB/sec]` | new ones | the same, under its right name |
| `BW average[Gb/sec]` | all with `--report_gbits`, which is always given | 10^9 bits a second |

Traps:

- Between header and row there may be `Conflicting CPU frequency values detected`, and the header may come twice.
- With a duration (`-D`) the peak is 0.00; the average is what counts.
- `Failed status 12` is `IBV_WC_RETRY_EXC_ERR`: the NIC sent again until it gave up. Others are faults of the test.
- A server prints the row of its client too, where versions agree: it is counted once, from the client.
"""

import math
import re
from collections.abc import Iterator
from typing import Any, Literal

from collector.formats.text import decode, last_line, recording, text_in
from truerail.errors import UnreadableError
from truerail.model import Device, RdmaTest, Role, collector, minutes, saved_as

VERSION = 1
_PROGRAMS: tuple[Literal["rping", "ib_write_bw"], ...] = ("rping", "ib_write_bw")
_ROLES = ("client", "server")
_REASONS = frozenset(("no RDMA device", "busy", "not in time", "left out"))
_COLUMN = re.compile(r"#\w+|BW \w+\[[^\]]*\]|MsgRate\[[^\]]*\]|CPU_Util\[[^\]]*\]")
_GIGABITS = {"Gb/sec": 1.0, "MB/sec": 8 * 2**20 / 1e9, "MiB/sec": 8 * 2**20 / 1e9}
_RETRIES_EXCEEDED = re.compile(r"^[ \t]*Failed status 12\b.*$", re.MULTILINE)
_MOST_DETAIL = 160
_MOST_TESTS = 2**40


ASK = (*saved_as("truerail-probe-heavy"),)


@collector(on=[Role.HOST], ask=ASK, every=minutes(10), yields=[RdmaTest], optional=True)
def rdma_tests(answer: str, device: Device) -> Iterator[RdmaTest]:
    """One `RdmaTest` for each test, program and end. Raises `UnreadableError`."""
    found = recording(decode(answer), "truerail_heavy", "truerail probe --heavy", VERSION)
    run = text_in(found, "run", "the recording")
    if type(found.get("tests")) is not list:
        raise UnreadableError("the recording has no list `tests`")
    for test in found["tests"]:
        number = test.get("test") if type(test) is dict else None
        if type(number) is not int or not 0 <= number < _MOST_TESTS:
            raise UnreadableError("a test without its number", text=str(test)[:60])
        about = f"test {test['test']}"
        if test.get("role") not in _ROLES:
            raise UnreadableError(f"{about}: not a role", text=str(test.get("role"))[:40])
        port, peer, peer_port = (text_in(test, name, about) for name in ("port", "peer", "peer_port"))
        for program in _PROGRAMS:
            outcome, gbps, detail = _outcome(test, program, about)
            yield RdmaTest(port, peer, peer_port, run, test["test"], test["role"], program, outcome, gbps, detail)


def _outcome(test: dict[str, Any], program: Any, about: str) -> tuple[Any, float | None, str | None]:
    """Outcome, bandwidth and detail of one program."""
    why = test.get("why")
    if why == "unknown":
        return "load unknown", None, None
    if why is not None:
        if why not in _REASONS:
            raise UnreadableError(f"{about}: not a reason", text=str(why)[:40])
        return why, None, text_in(test, "detail", about) if "detail" in test else None
    result = test.get(program)
    if type(result) is not dict:
        raise UnreadableError(f"{about}: no result of {program}")
    if result.get("missing"):
        return "not installed", None, None
    output, status = result.get("output"), result.get("status")
    if type(output) is not str or not (status is None or type(status) is int):
        raise UnreadableError(f"{about}: neither output nor status of {program}")
    if status is None:
        return "not ended", None, last_line(output, _MOST_DETAIL)
    if test["role"] == "client" and (given_up := _RETRIES_EXCEEDED.search(output)):
        return "lost", None, given_up[0].strip()[:_MOST_DETAIL]
    if status:
        return "failed", None, last_line(output, _MOST_DETAIL)
    if program == "rping" or test["role"] == "server":
        return "passed", None, None
    gbps = _average(output, about)
    return ("failed", None, last_line(output, _MOST_DETAIL)) if gbps is None else ("measured", gbps, None)


def _average(output: str, about: str) -> float | None:
    """The average of perftest's row in 10^9 bits a second; None where there is no row."""
    columns: list[str] = []
    for line in output.split("\n"):
        if line.strip().startswith("#bytes"):
            columns = _COLUMN.findall(line)
            continue
        cells = line.split()
        if not columns or not cells or not all(map(_numeric, cells)):
            continue
        place = [number for number, column in enumerate(columns) if column.startswith("BW average")]
        unit = columns[place[0]].partition("[")[2].rstrip("]") if place else ""
        if unit not in _GIGABITS or len(cells) <= place[0]:
            raise UnreadableError(f"{about}: not a row of perftest", text=line.strip()[:80])
        gbps = float(cells[place[0]]) * _GIGABITS[unit]
        if not math.isfinite(gbps) or gbps < 0:
            raise UnreadableError(f"{about}: not a bandwidth", text=line.strip()[:80])
        return round(gbps, 3)
    return None


def _numeric(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
