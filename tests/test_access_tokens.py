"""Tokens: how they are made, written down, read from the settings, and what is wrong with a bad one."""

from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from tests.access_site import OPERATOR, READER, STRANGER, TOKENS, Site
from truerail.cli.app import app
from truerail.errors import AccessError, CommandError, SettingsError
from truerail.model import Secret
from truerail.service.loading import load_settings
from truerail.service.settings import Token
from truerail.service.token_hashes import is_token, is_token_hash, new_token, token_hash
from truerail.web.access.authenticator import MetricsToken, Tokens


def test_a_token_has_256_bits_and_is_made_anew_each_time() -> None:
    made = {new_token() for _ in range(100)}
    assert len(made) == 100
    assert all(is_token(token) for token in made)
    assert {len(token) for token in made} == {4 + 43}


def test_the_hash_says_nothing_of_the_token_and_is_the_same_each_time() -> None:
    assert token_hash(READER) == token_hash(READER) != token_hash(OPERATOR)
    assert is_token_hash(token_hash(READER))
    assert READER not in token_hash(READER)


@pytest.mark.parametrize(
    "text", ["", "trt_", "trt_" + "a" * 42, "trt_" + "a" * 44, "x" * 47, READER + "\n", "trt_" + "ä" * 43]
)
def test_what_is_no_token_has_not_the_shape_of_one(text: str) -> None:
    assert not is_token(text)


@pytest.mark.parametrize("text", ["", "sha256:", "sha256:" + "0" * 63, "sha256:" + "G" * 64, "md5:" + "0" * 64, READER])
def test_what_is_no_hash_is_not_taken_for_one(text: str) -> None:
    assert not is_token_hash(text)


def test_each_token_finds_its_own_entry_wherever_it_stands() -> None:
    tokens = Tokens([Token(**entry) for entry in TOKENS])  # type: ignore[arg-type] # the words of the file
    assert [found and found.name for found in map(tokens.find, (READER, OPERATOR, STRANGER, ""))] == [
        "rita",
        "otto",
        None,
        None,
    ]


def test_a_hash_of_something_else_than_a_token_lets_nobody_in() -> None:
    tokens = Tokens([Token(name="weak", hash=token_hash("password1"))])
    assert tokens.find("password1") is None


def test_the_command_prints_the_token_alone_and_the_line_that_the_settings_take(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["token", 'ci "north": ü', "--role", "operator"])
    assert done.exit_code == 0
    token = done.stdout.strip()
    assert is_token(token)
    entry = [line for line in done.stderr.splitlines() if line.lstrip().startswith("- ")]
    assert token not in done.stderr
    file = tmp_path / "truerail.yaml"
    file.write_text("inventory: i.yaml\naccess:\n  tokens:\n" + "\n".join(entry) + "\n", encoding="utf-8")
    (read,) = load_settings(file).access.tokens
    assert read == Token(name='ci "north": ü', hash=token_hash(token), role="operator")


def test_without_a_role_a_token_only_reads() -> None:
    entry = CliRunner().invoke(app, ["token", "ci"]).stderr.splitlines()[-1]
    assert yaml.safe_load(entry)[0]["role"] == "reader"


@pytest.mark.parametrize("name", ["", "x" * 65, "two\nlines", "\x1b[31mred"])
def test_a_name_that_no_log_can_show_is_refused(name: str) -> None:
    done = CliRunner().invoke(app, ["token", name])
    assert isinstance(done.exception, CommandError)
    assert not done.stdout


def test_a_malformed_hash_names_the_token_and_shows_nothing_of_it(tmp_path: Path) -> None:
    access = {"tokens": [TOKENS[0], {"name": "night-shift", "hash": STRANGER}]}
    file = tmp_path / "truerail.yaml"
    file.write_text(yaml.safe_dump({"inventory": "i.yaml", "access": access}), encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        load_settings(file)
    said = str(caught.value)
    assert "'night-shift'" in said
    assert "truerail token" in said
    assert STRANGER not in said


def test_a_metrics_token_that_is_missing_or_short_is_named(tmp_path: Path) -> None:
    with pytest.raises(AccessError, match=r"metrics_token: environment variable NOT_THERE is not set"):
        Site({"tokens": TOKENS, "metrics_token": {"env": "NOT_THERE"}})
    short = tmp_path / "short"
    short.write_text("hunter2\n")
    with pytest.raises(AccessError, match=r"metrics_token .*short.* is shorter than 24") as caught:
        MetricsToken(Secret("file", str(short)))
    assert "hunter2" not in str(caught.value)


def test_without_a_metrics_token_none_matches() -> None:
    assert not MetricsToken(None).matches("")
