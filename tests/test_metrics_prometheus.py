"""The real Prometheus: it discovers our targets, takes every series, and understands every example query."""

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit
from urllib.request import urlopen

from docs.catalogues import metrics_page
from tests.loopback import prometheus, served
from tests.metrics_pages import COUNTERS, NOW, all_samples, page, published, with_traffic
from tests.patience import ENOUGH, soon
from tests.real import require
from truerail.analysis.published import Published
from truerail.model import Role
from truerail.outputs.metrics import CONTENT_TYPE, Exposition, sd
from truerail.outputs.metrics.declared import CATALOGUE
from truerail.simulator import Noise, Shape, simulate


def fabric() -> Published:
    shape = Shape(hosts=12, rails=4, pods=2, spines=2, uplinks=4)
    simulation = simulate(shape, 4, Noise(unreachable=0.1), seed=2)
    return with_traffic(published(simulation.plan, simulation.snapshot()))


def test_promtool_has_no_complaint() -> None:
    require("promtool")
    for text in (page(fabric()), page(None)):
        checked = subprocess.run(
            ["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False
        )
        assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")


def test_promtool_would_complain() -> None:
    require("promtool")
    bad = page(None).replace("truerail_service_rounds_total", "truerail_service_rounds")
    checked = subprocess.run(["promtool", "check", "metrics"], input=bad, capture_output=True, text=True, check=False)
    assert checked.returncode == 3
    assert "_total" in checked.stderr


def others(publication: Published) -> str:
    """What node_exporter and dcgm-exporter say of these hosts, with the host's name from its target."""
    hosts = [device.name for device in publication.plan.of_role(Role.HOST)]
    symbol = 'node_infiniband_symbol_error_total{{host="{}",device="mlx5_{}",port="1"}} {}\n'
    power = 'DCGM_FI_DEV_POWER_USAGE{{host="{}",gpu="{}",UUID="GPU-{}"}} 600\n'
    counted = int(monotonic() * 10)
    return "".join(symbol.format(h, n, counted) + power.format(h, n, n) for h in hosts for n in range(4))


def fabric_page(publication: Published) -> Callable[[str, str], tuple[str, bytes]]:
    """/metrics and /sd as the service has them, and /others as exporters do."""
    exposition = Exposition()

    def answer(base: str, path: str) -> tuple[str, bytes]:
        url = urlsplit(path)
        asked = {key: values[0] for key, values in parse_qs(url.query).items()}
        if url.path == "/sd":
            port = int(asked["port"]) if "port" in asked else None
            return "application/json", json.dumps(sd(publication, base, job=asked.get("job", ""), port=port)).encode()
        if url.path == "/others":
            return CONTENT_TYPE, others(publication).encode()
        return CONTENT_TYPE, exposition.render(publication, asked.get("pod"), COUNTERS, NOW)

    return answer


@contextmanager
def watching(folder: Path, base: str) -> Iterator[str]:
    """A Prometheus that scrapes what /sd names. Gives its address."""
    own = urlsplit(base).netloc
    jobs = [
        {"job_name": "truerail", "honor_labels": True, "http_sd_configs": [{"url": f"{base}/sd"}]},
        {"job_name": "others", "honor_labels": True, "metrics_path": "/others", "static_configs": [{"targets": [own]}]},
        {"job_name": "hosts", "http_sd_configs": [{"url": f"{base}/sd?job=node&port=9100"}]},
    ]
    with prometheus(folder, jobs, {"scrape_interval": "1s", "scrape_timeout": "1s"}) as (address, _):
        yield address


def ask(prometheus: str, path: str) -> Any:
    with urlopen(f"{prometheus}/api/v1/{path}", timeout=ENOUGH) as answer:
        reported = json.load(answer)
    assert reported["status"] == "success"
    return reported["data"]


def query(prometheus: str, text: str, at: float | None = None) -> list[dict[str, Any]]:
    """The answer as it is now, or as it was then, whatever was scraped since."""
    moment = "" if at is None else f"&time={at}"
    found: list[dict[str, Any]] = ask(prometheus, f"query?query={quote(text)}{moment}")["result"]
    return found


def until_scraped(prometheus: str, series: int) -> float:
    """Waits until so many series of ours are there. Gives the time at which they were: later, a scrape may have been
    too slow, and its series are not there for a while.
    """
    found: list[list[str | float]] = []

    def scraped() -> bool:
        with suppress(OSError):  # it does not listen yet
            found[:] = [one["value"] for one in query(prometheus, 'count({__name__=~"truerail_.+"})')]
        return found[0][1] == str(series) if found else False

    soon(scraped, f"Prometheus has {series} series")
    return float(found[0][0])


def answered(prometheus: str, text: str) -> list[dict[str, Any]]:
    """The answer of a query as soon as there is one: a rate needs two scrapes."""
    found: list[dict[str, Any]] = []
    soon(lambda: found.extend(query(prometheus, text)) or found, text)
    return found


def test_a_real_prometheus_finds_and_takes_all_of_it(tmp_path: Path) -> None:
    require("prometheus")
    publication = fabric()
    whole = all_samples(page(publication))
    with served(fabric_page(publication)) as base, watching(tmp_path, base) as server:
        then = until_scraped(server, len(whole))
        own = [target["labels"] for target in ask(server, "targets?state=active")["activeTargets"]]
        mine = [labels["instance"].rpartition("/")[2] for labels in own if labels["job"] == "truerail"]
        assert sorted(mine) == ["-", "p1", "p2"]
        assert len([labels for labels in own if labels["job"] == "node" and labels["host"].startswith("gpu-")]) == 12
        assert query(server, 'truerail_link_state{pod="p1"}', then)
        assert not query(server, "{exported_pod!=''}", then)
        for metric in CATALOGUE.values():
            query(server, metric.query, then)
        documented = re.findall(r"```promql\n(.*?)```", metrics_page(), re.DOTALL)
        assert [bool(answered(server, text)) for text in documented] == [True, True]
        joined = query(server, CATALOGUE["truerail_link_info"].query, then)
        assert joined
        assert all(found["metric"]["switch"] for found in joined)
        taken = {
            found["metric"]["host"] + found["metric"]["nic"]: found["value"][1]
            for found in query(server, "truerail_link_state", then)
        }
        ours = {
            dict(labels)["host"] + dict(labels)["nic"]: value
            for name, labels, value in whole
            if name == "truerail_link_state"
        }
        assert {key: float(value) for key, value in taken.items()} == ours
