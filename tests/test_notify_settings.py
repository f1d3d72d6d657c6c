"""Receivers and exports in `truerail.yaml`: what is refused, with its line and without secrets."""

from pathlib import Path

from truerail.model.target import Secret
from truerail.service.loading import load_settings
from truerail.service.settings import Settings

LEAST = "inventory: inventory.yaml\n"


def loaded(folder: Path, text: str) -> Settings:
    file = folder / "truerail.yaml"
    file.write_text(LEAST + text)
    return load_settings(file)


def test_receivers_have_names_and_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    text = """notify:
  - webhook: {url: {env: HOOK}, headers: {Authorization: {file: token}}, ca: ca.pem}
  - {name: siem, severity: critical, webhook: {url: 'https://siem.example.net'}}
otlp: {endpoint: 'http://collector.example.net:4318/', ca: ca.pem, interval: 15s, only: ['truerail_link_*']}
"""
    settings = loaded(tmp_path, text)
    first, second = settings.notify
    assert [one.called for one in settings.notify] == ["webhook", "siem"]
    assert (first.webhook.url, first.webhook.ca) == (Secret("env", "HOOK"), tmp_path / "ca.pem")
    assert (second.severity, second.webhook.ca) == ("critical", None)
    assert settings.otlp is not None
    assert (settings.otlp.endpoint, settings.otlp.ca) == ("http://collector.example.net:4318", tmp_path / "ca.pem")
