"""The bus bandwidth of collectives, as NCCL's Inspector writes it for Prometheus.

Question: how fast is each GPU in each collective of its communicator?
Needs: the profiler plugin of NCCL with `NCCL_INSPECTOR_PROM_DUMP=1`, whose files node_exporter's textfile collector
reads. No device is asked for it: the Prometheus that has the series is, for their values of the last two minutes, where
the setting `jobs` names it. A file of a capture is read.

Format: Prometheus' text format, `nccl_bus_bandwidth_gbs{slurm_job_id,node,gpu,comm_name,nranks,collective,
message_size}`; `nccl_p2p_bus_bandwidth_gbs` with `p2p_operation` for sends and receives. Without that setting a line of
JSON for each operation, `{"header": ..., "metadata": ..., "coll_perf": ...}`, which names no GPU. Source: NCCL,
`plugins/profiler/inspector`. Of Prometheus the JSON of its HTTP API: a `matrix`, values with their times.

Traps:

- `slurm_job_id="unknown"` on Kubernetes: the job is unknown.
- `message_size` is a range (`4-5GB`).
- Execution times are in series of their own (`nccl_collective_exec_time_microseconds`), and are left out.
"""

import json
import math
import re
from collections.abc import Iterator
from typing import Any

from collector.formats.text import decode, is_json, lines, small_count
from truerail.errors import UnreadableError
from truerail.model import BY_HAND, Command, Device, Role, collector, minutes
from truerail.model.nccl_facts import NcclBandwidth
from truerail.model.platforms import PROMETHEUS_API

_QUERY = "nccl_bus_bandwidth_gbs%5B2m%3A30s%5D"
"""`nccl_bus_bandwidth_gbs[2m:30s]`: all series at the same times, as often as Inspector writes at most."""
_SAMPLE = re.compile(r"(nccl_[a-z0-9_]{1,100})\{([^\n]{0,4000})\}[ \t]+(\S{1,40})(?:[ \t]+-?\d{1,20})?[ \t]*$")
_LABEL = re.compile(r'([a-z_][a-z0-9_]{0,60})="((?:[^"\\]|\\.){0,500})"[ \t]*(?:,[ \t]*|$)')
_BANDWIDTH = {"nccl_bus_bandwidth_gbs": "collective", "nccl_p2p_bus_bandwidth_gbs": "p2p_operation"}
_PERFORMANCE = {"coll_perf": "coll", "p2p_perf": "p2p"}
_BESIDE = ("dump_stats", "proxy_trace")
"""Records that are no operation. Since v4.3 `dump_stats` has the header and metadata of the operations that follow."""
_RECORD = re.compile(rf"\{{.{{0,4096}}\"(?:{'|'.join((*_PERFORMANCE, *_BESIDE))})\"\s*:", re.DOTALL)
_STARTS = re.compile(r"\S")
_ESCAPES = {"\\n": "\n", '\\"': '"', "\\\\": "\\"}


ASK = (Command("nccl_inspector.prom", BY_HAND), Command(f"GET /api/v1/query?query={_QUERY}", (PROMETHEUS_API,)))


@collector(on=[Role.HOST], ask=ASK, every=minutes(1), yields=[NcclBandwidth], megabytes=16, optional=True)
def nccl_inspector(answer: str, device: Device) -> list[NcclBandwidth]:
    """One `NcclBandwidth` for each sample of a bandwidth, in the file's order. Raises `UnreadableError`."""
    if _RECORD.match(answer.lstrip()):
        return list(_recorded(answer))
    return list(_from_prometheus(decode(answer)) if is_json(answer) else _samples(answer))


def _from_prometheus(body: Any) -> Iterator[NcclBandwidth]:
    data = body.get("data") if isinstance(body, dict) and body.get("status") == "success" else None
    if not isinstance(data, dict) or data.get("resultType") != "matrix" or not isinstance(data.get("result"), list):
        raise UnreadableError("not a matrix of Prometheus", line=1)
    for number, series in enumerate(data["result"], 1):
        labels, values = (series.get(key) for key in ("metric", "values")) if isinstance(series, dict) else (None, None)
        if not isinstance(labels, dict) or not isinstance(values, list):
            raise UnreadableError(f"series {number} of Prometheus has no labels or values", line=1)
        words = {str(name): str(value) for name, value in labels.items()}
        kind = _BANDWIDTH.get(words.get("__name__", ""), "collective")
        for pair in values:
            if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], int | float):
                raise UnreadableError(f"series {number} of Prometheus has a value without a time", line=1)
            yield _bandwidth(words, kind, str(pair[1]), 1)._replace(at=float(pair[0]))


def _recorded(answer: str) -> Iterator[NcclBandwidth]:
    """The operations in objects of JSON, one after the other, on one line each or on several."""
    decoder, shared, at = json.JSONDecoder(), dict[str, Any](), 0
    while start := _STARTS.search(answer, at):
        try:
            record, at = decoder.raw_decode(answer, start.start())
            kind = next(kind for kind in (*_PERFORMANCE, *_BESIDE) if kind in record)
            shared = {key: record[key] for key in ("header", "metadata")} if kind == "dump_stats" else shared
            found = _operation({**shared, **record}, kind, _PERFORMANCE[kind]) if kind in _PERFORMANCE else None
        except (ValueError, TypeError, KeyError, StopIteration, RecursionError, OverflowError) as error:
            text = answer[start.start() : start.start() + 200].split("\n")[0]
            why = "not a record of NCCL's Inspector"
            raise UnreadableError(why, line=_line_of(answer, start), text=text) from error
        if found is not None:
            if not math.isfinite(found.busbw_gbs):
                raise UnreadableError("not a bandwidth", line=_line_of(answer, start), text=str(found.busbw_gbs))
            yield found


def _line_of(answer: str, found: re.Match[str]) -> int:
    return answer.count("\n", 0, found.start()) + 1


def _operation(record: dict[str, Any], kind: str, name: str) -> NcclBandwidth:
    performance, header = record[kind], record["header"]
    rate, size = float(performance[f"{name}_busbw_gbs"]), int(performance[f"{name}_msg_size_bytes"])
    node, comm, ranks = str(record["metadata"]["hostname"]), str(header["id"]), int(header["n_ranks"])
    return NcclBandwidth(None, node, None, comm, ranks, str(performance[name]), str(size), rate)


def _samples(answer: str) -> Iterator[NcclBandwidth]:
    for number, line in enumerate(lines(answer), 1):
        text = line.strip()
        if not text or text.startswith(("# HELP ", "# TYPE ", "# EOF")):
            continue
        found = _SAMPLE.match(text)
        labels = found and _labels(found[2])
        if not found or labels is None:
            raise UnreadableError("not a sample of NCCL's Inspector", line=number, text=text[:200])
        if (kind := _BANDWIDTH.get(found[1])) is not None:
            yield _bandwidth(labels or {}, kind, found[3], number)


def _labels(text: str) -> dict[str, str] | None:
    labels: dict[str, str] = {}
    at = 0
    while at < len(text):
        found = _LABEL.match(text, at)
        if found is None:
            return None
        labels[found[1]] = re.sub(r"\\.", lambda one: _ESCAPES.get(one[0], one[0]), found[2])
        at = found.end()
    return labels


def _bandwidth(labels: dict[str, str], kind: str, value: str, number: int) -> NcclBandwidth:
    if lacking := [name for name in ("node", "comm_name", kind) if name not in labels]:
        raise UnreadableError(f"a bandwidth without {lacking[0]}", line=number)
    try:
        rate = float(value)
    except ValueError as error:
        raise UnreadableError("not a number", line=number, text=value) from error
    if not math.isfinite(rate):
        raise UnreadableError("not a bandwidth", line=number, text=value)
    job = labels.get("slurm_job_id", "unknown")
    return NcclBandwidth(
        None if job in ("unknown", "") else job,
        labels["node"],
        small_count(labels.get("gpu", "").removeprefix("GPU")),
        labels["comm_name"],
        small_count(labels.get("nranks", "")),
        labels[kind],
        labels.get("message_size", ""),
        rate,
    )
