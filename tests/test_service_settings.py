"""`truerail.yaml`: what it takes, what the environment overrides, and how it says what is wrong."""

import os
from datetime import timedelta
from pathlib import Path

import pytest

from truerail.errors import SettingsError
from truerail.model import Secret
from truerail.service.durations import duration
from truerail.service.loading import load_settings

LEAST = "inventory: inventory.yaml\n"


def written(folder: Path, text: str) -> Path:
    path = folder / "truerail.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def problems(folder: Path, text: str) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as caught:
        load_settings(written(folder, text))
    return caught.value.problems


def test_the_least_file_listens_on_loopback_and_keeps_a_journal_beside_itself(tmp_path: Path) -> None:
    settings = load_settings(written(tmp_path, LEAST))
    assert settings.http.host == "127.0.0.1"
    assert settings.inventory == tmp_path / "inventory.yaml"
    assert settings.plan is None
    assert settings.journal.url == f"sqlite:///{tmp_path}/truerail.db"
    assert not settings.access.required


def test_paths_are_relative_to_the_file_and_a_postgresql_url_stays(tmp_path: Path) -> None:
    text = LEAST + (
        "plan: plans/plan.csv\n"
        "journal: {url: 'postgresql://truerail@db/truerail', password: {env: DB_PASSWORD}}\n"
        "http: {tls: {certificate: cert.pem, key: /etc/key.pem}}\n"
        "probe: {key: probe.key}\n"
    )
    settings = load_settings(written(tmp_path, text))
    assert settings.plan == tmp_path / "plans/plan.csv"
    assert settings.journal.url == "postgresql://truerail@db/truerail"
    assert settings.journal.password == Secret("env", "DB_PASSWORD")
    assert settings.http.tls is not None
    assert settings.http.tls.certificate == tmp_path / "cert.pem"
    assert settings.http.tls.key == Path("/etc/key.pem")
    assert settings.probe is not None
    assert settings.probe.key == tmp_path / "probe.key"


def test_the_environment_overrides_single_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRUERAIL_HTTP__PORT", "9000")
    monkeypatch.setenv("TRUERAIL_RECOVERY__RESOLVE_AFTER", "5m")
    monkeypatch.setenv("TRUERAIL_URL", "of the command line, no setting")
    settings = load_settings(written(tmp_path, LEAST + "http: {host: localhost, port: 8000}\n"))
    assert (settings.http.host, settings.http.port) == ("localhost", 9000)
    assert settings.recovery.resolve_after == timedelta(minutes=5)


def test_a_link_to_the_page_has_one_slash(tmp_path: Path) -> None:
    page = load_settings(written(tmp_path, f"{LEAST}page: {{url: 'https://[2001:db8::1]:8443/'}}\n")).page
    assert page.url == "https://[2001:db8::1]:8443"


def test_an_address_that_no_others_reach_needs_no_log_in(tmp_path: Path) -> None:
    assert load_settings(written(tmp_path, LEAST + "http: {host: '::1'}\n")).http.host == "::1"


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        (LEAST + f"http: {{port: {'9' * 5000}}}\n", "truerail.yaml:2: http.port '9999"),
        ("inventory: " + "[" * 100_000, "truerail.yaml:1: nested more than 16 deep"),
    ],
)
def test_a_file_without_end_says_what_is_wrong(tmp_path: Path, text: str, summary: str) -> None:
    (reported,) = problems(tmp_path, text)
    assert summary in reported
    assert "truerail.yaml" in reported


def test_a_value_is_read_as_it_is_written_and_null_is_none_unless_quoted(tmp_path: Path) -> None:
    text = LEAST + "fabric: 007\nplan: null\nmetrics: {traffic: no}\nrecovery: {flapping_episodes: 5}\n"
    settings = load_settings(written(tmp_path, text))
    assert (settings.fabric, settings.plan, settings.metrics.traffic) == ("007", None, False)
    assert settings.recovery.flapping_episodes == 5
    assert load_settings(written(tmp_path, LEAST + "fabric: 'null'\n")).fabric == "null"


def test_a_mapping_merges_in_another_and_its_own_keys_take_precedence(tmp_path: Path) -> None:
    text = LEAST + "http: &base {host: localhost, port: 1}\njournal: {url: ''}\n"
    merged = LEAST + "http:\n  <<: [{port: 5, host: '::1'}, {port: 6, body_bytes: 4096}]\n  port: 7\n"
    assert load_settings(written(tmp_path, text)).http.port == 1
    http = load_settings(written(tmp_path, merged)).http
    assert (http.host, http.port, http.body_bytes) == ("::1", 7, 4096)


def test_a_file_that_is_not_there_or_not_text_is_an_error_of_its_own(tmp_path: Path) -> None:
    """Also one without end, and a pipe that no process writes to: nothing waits for it."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "truerail.yaml").write_bytes(b"fabric: \xff\n")
    wrong = {"no.yaml": "No such file", "truerail.yaml": "not UTF-8", "pipe": "has no settings", "/dev/zero": "larger"}
    for name, why in wrong.items():
        with pytest.raises(SettingsError, match=why):
            load_settings(tmp_path / name)


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("90s", 90), ("1.5m", 90), ("2h", 7200), ("30d", 2592000), ("1w", 604800), (5, 5)]
)
def test_durations(text: object, seconds: float) -> None:
    assert duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["", "5x", "-5s", "five", True, None, "1e3", "9" * 400 + "d"])
def test_what_is_no_duration_is_named(text: object) -> None:
    with pytest.raises(ValueError, match="duration"):
        duration(text)


def test_the_settings_that_the_documentation_shows_can_be_used(tmp_path: Path) -> None:
    page = (Path(__file__).parents[1] / "docs" / "service.md").read_text(encoding="utf-8")
    shown = page.split("```yaml\n")[1].split("```")[0]
    settings = load_settings(written(tmp_path, shown))
    assert settings.fabric == "dc1"
    assert settings.access.required
    assert settings.schedule.every["lldp_host"] == timedelta(minutes=1)
