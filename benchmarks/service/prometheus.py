"""What our rules cost a real Prometheus: a fabric's page on loopback, scraped pod by pod, every expression asked for.

CPU seconds of the process, read from /proc around each expression: what an evaluation takes on the clock says more of
who else uses the machine.
"""

import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit
from urllib.request import urlopen

import yaml

from tests.loopback import prometheus, served
from tests.ports import free_address
from truerail.analysis.published import Published
from truerail.outputs.metrics import CONTENT_TYPE, Exposition, sd
from truerail.simulator.simulation import TAKEN_AT

RULES = Path(__file__).resolve().parents[2] / "dashboards/generated/prometheus/truerail.rules.yaml"
EVERY_SECONDS = 240
"""Within the five minutes in which Prometheus looks back, and so rare that nothing else happens meanwhile."""
TRIES = 3
PATIENCE_SECONDS = 900.0
_ROUNDS = "min(prometheus_rule_group_iterations_total) > 1"
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Evaluated:
    """Series that were scraped and those that rules made of them; CPU seconds of each group's expressions, each the
    best of a few, and of the dearest ones; and Prometheus' memory.
    """

    version: str
    series: int
    recorded: int
    groups: dict[str, float]
    dearest: dict[str, float]
    memory_mb: float


def evaluated(publication: Published) -> Evaluated:
    """Lets a Prometheus scrape and evaluate, then asks for what each rule asks for."""
    with (
        tempfile.TemporaryDirectory() as folder,
        served(_page(publication)) as base,
        _watching(Path(folder), base) as (server, process),
    ):
        _until(server, _ROUNDS)
        groups = {
            group["name"]: _costs(server, process, group) for group in yaml.safe_load(RULES.read_text())["groups"]
        }
        costs = {name: cost for group in groups.values() for name, cost in group.items()}
        return Evaluated(
            _query(server, "prometheus_build_info")[0]["metric"]["version"],
            int(_number(server, 'count({__name__=~"truerail_.+"})')),
            int(_number(server, 'count({__name__=~".+:truerail_.+"})')),
            {name: sum(group.values()) for name, group in groups.items()},
            dict(sorted(costs.items(), key=lambda item: -item[1])[:5]),
            _number(server, "process_resident_memory_bytes") / 1e6,
        )


def _costs(server: str, process: int, group: dict[str, Any]) -> dict[str, float]:
    """CPU seconds of each rule of a group, by its name and severity."""
    found = {}
    for rule in group["rules"]:
        name = rule.get("record") or f"{rule['alert']} ({rule['labels']['severity']})"
        found[name] = min(_cost(server, process, rule["expr"]) for _ in range(TRIES))
    return found


def _cost(server: str, process: int, expression: str) -> float:
    began = _cpu(process)
    _query(server, f"count({expression})")
    return _cpu(process) - began


def _cpu(process: int) -> float:
    """CPU seconds of a process since it began (proc(5), `stat`: fields 14 and 15)."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _page(publication: Published) -> Callable[[str, str], tuple[str, bytes]]:
    """/metrics and /sd, as the service has them."""
    exposition = Exposition()
    exposition.page_of(publication)

    def answer(base: str, path: str) -> tuple[str, bytes]:
        url = urlsplit(path)
        if url.path == "/sd":
            return "application/json", json.dumps(sd(publication, base)).encode()
        return CONTENT_TYPE, exposition.render(publication, parse_qs(url.query)["pod"][0], {}, TAKEN_AT)

    return answer


@contextmanager
def _watching(folder: Path, base: str) -> Iterator[tuple[str, int]]:
    """A Prometheus that scrapes what /sd names, and itself. Gives its address and process."""
    own, every = free_address(), f"{EVERY_SECONDS}s"
    jobs: list[dict[str, Any]] = [
        {"job_name": "truerail", "honor_labels": True, "http_sd_configs": [{"url": f"{base}/sd"}]},
        {"job_name": "prometheus", "scrape_interval": "15s", "static_configs": [{"targets": [own]}]},
    ]
    waits = {"scrape_interval": every, "scrape_timeout": "15s", "evaluation_interval": every}
    with prometheus(folder, jobs, waits, RULES, own) as running:
        yield running


def _until(server: str, query: str) -> None:
    """Waits until a query has an answer. Raises TimeoutError."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        try:
            if _query(server, query):
                return
        except OSError:
            pass  # it does not listen yet
        time.sleep(1)
    raise TimeoutError(f"Prometheus has no {query} after {PATIENCE_SECONDS:.0f} s")


def _number(server: str, query: str) -> float:
    return float(_query(server, query)[0]["value"][1])


def _query(server: str, query: str) -> list[dict[str, Any]]:
    address = f"{server}/api/v1/query?query={quote(query)}"
    with urlopen(address, timeout=120) as answer:  # noqa: S310 - our own server
        found: list[dict[str, Any]] = json.load(answer)["data"]["result"]
    return found
