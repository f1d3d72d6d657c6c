"""Receivers and exports in `truerail.yaml`: what is refused, with its line and without secrets."""

from pathlib import Path

import pytest

from truerail.errors import SettingsError
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


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("notify: [{webhook: {url: 'ftp://hunter2'}}]", "webhook.url: is not a URL such as https://"),
        ("notify: [{webhook: {url: 'https://hunter2@x'}}]", "has a user or password: put them into a header"),
        ("notify: [{webhook: {url: 'https://x y/hunter2'}}]", "is not a URL"),
        ("notify: [{webhook: {url: 'https://[hunter2'}}]", "is not a URL"),
        ("notify: [{webhook: {url: 'https://x', headers: {Authorization: hunter2}}}]", "a secret is {env: NAME}"),
        ("notify: [{webhook: {url: 'https://x', headers: {'a b': {env: A}}}}]", "'a b' is not the name of a header"),
        ("notify: [{webhook: {url: 'https://x', secret: hunter2}}]", "a secret is {env: NAME}"),
        ("notify: [{name: a, severity: info}]", "notify.0.webhook is missing"),
        ("notify: [{syslog: {address: 'udp://loghost'}}]", "notify.0.syslog: is not a setting"),
        ("notify: [{webhook: {url: 'https://x'}}, {webhook: {url: 'https://y'}}]", "two receivers are named 'webhook'"),
        ("notify: [{name: otlp, webhook: {url: 'https://x'}}]", "is the name of the log records"),
        ("otlp: {endpoint: ''}", "otlp.endpoint"),
        ("otlp: {endpoint: 'http://x', interval: 0}", "an interval is at least 1s"),
        ("otlp: {endpoint: 'http://x', only: [truerail_cause]}", "no metric is called 'truerail_cause', did you mean"),
    ],
)
def test_a_mistake_is_named_with_its_line_and_repeats_no_secret(tmp_path: Path, text: str, summary: str) -> None:
    with pytest.raises(SettingsError) as caught:
        loaded(tmp_path, text)
    assert summary in str(caught.value)
    assert "truerail.yaml:2: " in str(caught.value)
    assert "hunter2" not in str(caught.value)
