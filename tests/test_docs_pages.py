"""What the documentation says beside its commands: links lead somewhere, files are there, YAML is what it is for."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from dashboards.rules import ALERTS
from tests.deploying import document, passes
from tests.docs_blocks import GUIDES, PAGES, ROOT, Block, anchors, blocks, inline_code, links
from tests.each import each
from tests.real import require
from tests.test_deploy_helm import CHART, FILES, helm
from truerail.inventory import InventoryError, load_inventory
from truerail.outputs.metrics.declared import CATALOGUE
from truerail.outputs.monitoring import monitoring_files, write
from truerail.plans import loads
from truerail.service.loading import load_settings
from truerail.service.settings import Settings

SUMMARY = ROOT / "docs/measured.md"
YAML = [block for page in GUIDES for block in blocks(page) if block.language == "yaml"]
FOLDERS = ("benchmarks", "collector", "dashboards", "deploy", "docs", "requirements", "rules", "tests")
LEAST = ("inventory: inventory.yaml", f"access: {{tokens: [{{name: a, role: reader, hash: 'sha256:{'0' * 64}'}}]}}")
"""What a part of truerail.yaml may leave out."""
DEVICES = "hosts: {nodes: 'gpu-[001-004]', nics: 'nic[0-1]'}\nleaves: {nodes: 'leaf-[0-1]'}\n"
ADDRESSED = re.compile(rf"(?:{'|'.join(FOLDERS)})/[\w./-]*")


def named(page: Path) -> str:
    """A page as pytest shows it."""
    return str(page.relative_to(ROOT))


@each("page", PAGES, ids=named)
def test_links_lead_somewhere(page: Path) -> None:
    for link in links(page):
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), f"{link} leads nowhere"
        assert not anchor or anchor in anchors(target), f"{link}: no such heading, there are {sorted(anchors(target))}"


@each("page", GUIDES, ids=named)
def test_files_and_alerts_that_are_named_exist(page: Path) -> None:
    for code in inline_code(page):
        if ADDRESSED.fullmatch(code):
            assert (ROOT / code).exists(), f"{code} is not there"
        if re.fullmatch(r"Truerail[A-Z]\w+", code):
            assert code in {alert.name for alert in ALERTS}, f"there is no alert {code}"


def test_every_guide_is_linked_from_the_index_and_the_index_from_the_readme() -> None:
    index = ROOT / "docs" / "README.md"
    assert "docs/README.md" in links(ROOT / "README.md")
    linked = {(index.parent / link.partition("#")[0]).resolve() for page in (index, SUMMARY) for link in links(page)}
    assert [named(page) for page in GUIDES[1:] if page != index and page not in linked] == []


@pytest.mark.parametrize("block", YAML, ids=lambda block: block.where)
def test_yaml_is_read_by_what_it_is_for(block: Block, tmp_path: Path) -> None:
    keys = set(yaml.safe_load(block.text))
    readers = [read for known, read in READERS if keys <= known]
    assert readers, f"{block.where}: no one reads a file with {sorted(keys)}"
    readers[0](block.text, tmp_path)


def test_sizing_counts_the_series_that_there_are() -> None:
    link, uplink = {"fabric", "pod", "host", "rail", "plane", "nic"}, {"fabric", "pod", "switch", "switch_port"}
    reported = {metric.name: set(metric.labels) for metric in CATALOGUE.values()}
    of_links = [name for name, labels in reported.items() if labels == link]
    of_uplinks = [name for name, labels in reported.items() if labels == uplink]
    others = {"truerail_link_info", "truerail_gpu_nic_affinity", "truerail_uplink_info"}
    assert others <= {name for name, labels in reported.items() if labels > link or labels > uplink}
    page = (ROOT / "docs" / "sizing.md").read_text(encoding="utf-8")
    assert f"| cable of a host | 3 | {len(of_links) - 1} |" in page, "truerail_link_state is among the three"
    assert f"| uplink | 2 | {len(of_uplinks) - 1} |" in page, "truerail_uplink_state is among the two"
    assert f"hosts x rails x {len(of_links) + 2}  +  uplinks x {len(of_uplinks) + 1}  +  hosts x 4" in page


def _settings(text: str, folder: Path) -> None:
    """truerail.yaml, or a part of one: what every file needs is then put beside it."""
    missing = [line for line in LEAST if not re.search(f"^{line.partition(':')[0]}:", text, re.MULTILINE)]
    (folder / "truerail.yaml").write_text("\n".join([*missing, text]))
    load_settings(folder / "truerail.yaml")


def _inventory(text: str, folder: Path) -> None:
    """An inventory of devices."""
    (folder / "inventory.yaml").write_text(text)
    assert load_inventory(folder / "inventory.yaml").targets


def _netbox(text: str, folder: Path) -> None:
    """A NetBox, which is not there: its token is all that is missed."""
    (folder / "inventory.yaml").write_text(text)
    with pytest.raises(InventoryError) as reported:
        load_inventory(folder / "inventory.yaml")
    assert re.fullmatch(r"\S+: .*NETBOX_TOKEN.*", str(reported.value)), reported.value


def _plan(text: str, folder: Path) -> None:
    """A plan, or `cables` or `qos` alone, which need the devices of another."""
    plan = loads(text if "hosts:" in text else DEVICES + text, ".yaml")
    assert plan.cables or plan.qos


def _prometheus(text: str, folder: Path) -> None:
    """prometheus.yml; what `truerail monitoring export` writes is beside it."""
    require("promtool")
    write(folder / "site", monitoring_files())
    (folder / "truerail.rules.yaml").symlink_to(folder / "site/prometheus/truerail.rules.yaml")
    for name in re.findall(r"credentials_file: ([\w.]+)", text):
        (folder / name).write_text("secret")
    (folder / "metrics.token").touch()
    (folder / "prometheus.yml").write_text(text)
    command = ["promtool", "check", "config", str(folder / "prometheus.yml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def _alertmanager(text: str, folder: Path) -> None:
    """Receivers for the generated routes and texts, in place of the generated ones."""
    require("amtool")
    write(folder, monitoring_files())
    file = folder / "alertmanager" / "alertmanager.yml"
    mine = yaml.safe_load(text)["receivers"]
    shipped = yaml.safe_load(file.read_text())
    kept = [one for one in shipped["receivers"] if one["name"] not in {other["name"] for other in mine}]
    file.write_text(yaml.safe_dump({**shipped, "receivers": [*kept, *mine]}))
    checked = subprocess.run(["amtool", "check-config", str(file)], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr


def _chart(text: str, folder: Path) -> None:
    """Values of the Helm chart, for helm itself."""
    (folder / "values.yaml").write_text(text)
    passes(helm("template", "truerail", CHART, f"--values={folder / 'values.yaml'}", *FILES))


READERS: tuple[tuple[set[str], Callable[[str, Path], None]], ...] = (
    (set(Settings.model_fields), _settings),
    (set(document(CHART / "values.yaml")), _chart),
    ({"defaults", "devices"}, _inventory),
    ({"defaults", "netbox"}, _netbox),
    ({"global", "scrape_configs", "rule_files", "alerting"}, _prometheus),
    ({"receivers"}, _alertmanager),
    (
        {"name", "transport", "load_balancing", "speed", "rails", "hosts", "leaves", "spines", "host_links", "uplinks"}
        | {"cables", "panels", "qos"},
        _plan,
    ),
)


def test_each_figure_of_the_summary_is_on_the_page_that_it_names() -> None:
    rows = [line.split("|") for line in SUMMARY.read_text(encoding="utf-8").splitlines() if "](../" in line]
    assert len(rows) > 20
    for _, _, figures, page, _ in rows:
        text = "".join((SUMMARY.parent / link).read_text(encoding="utf-8") for link in re.findall(r"\(([^)#]+)", page))
        assert not [figure for figure in re.findall(r"[\d,.]*\d%?", figures) if figure not in text], page
