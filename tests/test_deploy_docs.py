"""docs/install.md: its commands exist, its files are there, and what can be run here is run."""

import re
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.deploying import ROOT, document, passes, run
from truerail.errors import JournalUnusableError
from truerail.journal import open_journal
from truerail.model import Role
from truerail.poller.questions import applicable
from truerail.service.settings import Journal

TEXT = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
LINES = [
    line.partition("  #")[0].strip()
    for block in re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL)
    for line in block.replace("\\\n", " ").splitlines()
]
TRUERAIL = [
    line[found.end() :].split()
    for line in LINES
    if (found := re.match(r"(/opt/truerail/bin/|docker compose run --rm --no-deps )?truerail ", line))
]
PLACES = re.compile(r"(?<![\w/.-])(?:deploy|requirements|dashboards)/[\w./@-]*\w")
FOLDERS = ("deploy/compose", "deploy/ansible", "deploy/ansible/roles/truerail_device/files")


def test_there_are_commands_to_look_at() -> None:
    assert len(TRUERAIL) == 11
    assert ["serve", "--check", "--config", "/etc/truerail/truerail.yaml"] in TRUERAIL


def test_every_file_that_is_named_is_there() -> None:
    named = set(PLACES.findall(TEXT))
    assert len(named) > 8
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []
    for name in re.findall(r"`((?:truerail-only|sudoers)\.\w+|(?:config|secrets)/[\w./]*)`", TEXT):
        assert any((ROOT / folder / name).exists() for folder in FOLDERS), name


def oids() -> Iterator[str]:
    for commands in applicable(Role.LEAF, "snmp").values():
        for command in commands:
            yield from re.findall(r" (1\.[\d.]*\d)", command)


def test_the_view_of_snmp_holds_every_object_that_is_walked() -> None:
    seen = [f"{oid}." for oid in re.findall(r"^view truerail included \.(\S+)$", TEXT, re.MULTILINE)]
    asked = {f"{oid}." for oid in oids()}
    assert asked
    assert [oid for oid in asked if not oid.startswith(tuple(seen))] == []
    assert [oid for oid in seen if not any(one.startswith(oid) for one in asked)] == [], "more than is asked"


def test_the_metrics_token_of_the_documentation_is_long_enough(tmp_path: Path) -> None:
    made = next(line for line in LINES if line.startswith("openssl rand") and "metrics_token" in line)
    assert int(made.split()[3]) * 2 >= 24


def test_a_journal_goes_back_to_its_copy_after_an_upgrade(tmp_path: Path) -> None:
    settings = Journal(url=f"sqlite:///{tmp_path / 'truerail.db'}")
    open_journal(settings).close()
    backup = next(line for line in LINES if line.startswith("python3 -c")).replace("python3", sys.executable, 1)
    passes(run("sh", "-c", backup, cwd=tmp_path))
    with closing(sqlite3.connect(tmp_path / "truerail.db")) as newer, newer:
        newer.execute("UPDATE alembic_version SET version_num = 'v9999'")
    newer.close()
    with pytest.raises(JournalUnusableError, match="newer truerail"):
        open_journal(settings)
    back = LINES[LINES.index("systemctl stop truerail") + 1 : LINES.index("systemctl start truerail")]
    assert len(back) == 2
    passes(run("sh", "-ec", "\n".join(back), cwd=tmp_path))
    open_journal(settings).close()


def test_the_token_of_the_documentation_lets_settings_in(tmp_path: Path) -> None:
    made = run(Path(sys.executable).with_name("truerail"), *next(words for words in TRUERAIL if words[0] == "token"))
    passes(made)
    line = next(line.strip() for line in made.stderr.splitlines() if "hash:" in line)
    config = ROOT / "deploy" / "compose" / "config"
    shutil.copy(config / "inventory.yaml", tmp_path)
    placeholder = re.compile(r"^    - \{name: on-call.*$", re.MULTILINE)
    text, count = placeholder.subn(f"    {line}", (config / "truerail.yaml").read_text())
    assert count == 1
    (tmp_path / "truerail.yaml").write_text(text)
    passes(run(Path(sys.executable).with_name("truerail"), "serve", "--check", "-c", tmp_path / "truerail.yaml"))
    assert document(tmp_path / "truerail.yaml")["access"]["tokens"][0]["role"] == "operator"
