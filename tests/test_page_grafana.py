"""Hosts and switches lead to their dashboards, where the settings name a Grafana, and to nothing else."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from dashboards.grafana.boards import BOARDS
from tests.fake_tower import fabric
from tests.page_site import Site, Watched, publication
from truerail.analysis.published import Published
from truerail.errors import SettingsError
from truerail.service.loading import load_settings

BROKEN, SEEN = fabric()
GRAFANA = "https://grafana.example.net/sub"


def first() -> Published:
    """The fabric's evaluation of just now."""
    return publication(BROKEN.plan, SEEN)


def test_a_device_links_to_its_dashboard(browser: Browser) -> None:
    with Site(first(), page={"grafana": f"{GRAFANA}/"}) as site:
        watched = Watched(browser, site)
        for path, link in (
            ("/hosts/gpu-005", f"{GRAFANA}/d/truerail-host?var-fabric=test+fabric&var-host=gpu-005"),
            ("/switches/p1-leaf-1", f"{GRAFANA}/d/truerail-switch?var-fabric=test+fabric&var-switch=p1-leaf-1"),
        ):
            button = watched.open(path).get_by_role("link", name="Grafana")
            expect(button).to_have_attribute("href", link)
            expect(button).to_have_attribute("rel", "noopener")
        watched.close()
        assert watched.complaints == []


def test_without_the_setting_there_is_no_link(browser: Browser) -> None:
    with Site(first()) as site:
        watched = Watched(browser, site)
        page = watched.open("/hosts/gpu-005")
        expect(page.get_by_role("link", name="Impact if down")).to_be_visible()
        expect(page.get_by_role("link", name="Grafana")).to_have_count(0)
        watched.close()


def test_the_dashboards_are_there_and_take_what_the_links_say() -> None:
    taken = {board.name: {one.build().name for one in board.variables} for board in BOARDS}
    assert "host" in taken["host"]
    assert "switch" in taken["switch"]


@pytest.mark.parametrize(
    "value",
    ["javascript:alert(1)", "grafana.example.net", "ftp://grafana.example.net", "https://", "https://g.example.net?a=1",
     "https://admin:secret@g.example.net", "https://g.example.net#top", "http://["],
)  # fmt: skip
def test_what_is_no_address_of_the_web_is_refused(value: str, tmp_path: Path) -> None:
    file = tmp_path / "truerail.yaml"
    file.write_text(f'inventory: inventory.yaml\npage: {{grafana: "{value}"}}\n')
    with pytest.raises(SettingsError, match=r"truerail\.yaml:2: page\.grafana"):
        load_settings(file)


def test_hostile_characters_in_the_address_stay_text(browser: Browser) -> None:
    with Site(first(), page={"grafana": 'https://g.example.net/"><script>'}) as site:
        watched = Watched(browser, site)
        button = watched.open("/hosts/gpu-005").get_by_role("link", name="Grafana")
        expect(button).to_have_attribute(
            "href", 'https://g.example.net/"><script>/d/truerail-host?var-fabric=test+fabric&var-host=gpu-005'
        )
        watched.close()
        assert watched.complaints == []
