"""`truerail export history`: from a service's history, from its journal, from a capture."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import truerail
from tests.history_site import RecordedSite
from tests.journal_helpers import Settings
from tests.test_history_store import rows
from truerail.cli.app import app
from truerail.errors import CommandError
from truerail.history.history_tables import CABLES, CAUSES, FINDINGS, ROUNDS
from truerail.history.journal_export import export_journal
from truerail.history.store_folder import StoreFolder
from truerail.journal import open_journal
from truerail.model import CauseKind
from truerail.plans import dump_csv
from truerail.simulator import Fault, Shape, simulate

SWAP = Fault(CauseKind.CABLE_SWAP, "one-host")


def export(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["export", "history", *map(str, arguments)])


def refused(*arguments: str | Path) -> str:
    """What the command complains of."""
    error = export(*arguments).exception
    assert isinstance(error, CommandError)
    return str(error)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RecordedSite]:
    """A swap that is repaired, in journal and store, beside the settings of the service."""
    folder = tmp_path_factory.mktemp("export")
    site = RecordedSite(folder / "history", [SWAP])
    site.journal = open_journal(Settings(f"sqlite:///{folder}/truerail.db"))
    site.rounds(4)
    site.site.fabric.director.fix(1)
    site.site.settle()
    site.rounds(4, seconds=60)
    site.write()
    (folder / "plan.csv").write_text(dump_csv(site.plan))
    (folder / "inventory.yaml").write_text("devices: []\n")
    (folder / "with.yaml").write_text(
        "fabric: test\ninventory: inventory.yaml\nplan: plan.csv\nhistory: {path: history}\n"
    )
    (folder / "without.yaml").write_text("fabric: test\ninventory: inventory.yaml\nplan: plan.csv\n")
    yield site
    site.journal.close()


def test_a_history_is_copied(site: RecordedSite, tmp_path: Path) -> None:
    out = tmp_path / "out"
    ended = export("--config", site.folder.path.parent / "with.yaml", "--out", out, "--since", "2026-11-01")
    assert ended.exit_code == 0, ended.output
    assert [line.split()[:3] for line in ended.stdout.splitlines()][:3] == [
        ["cables", "26", "rows"],
        ["findings", "2", "rows"],
        ["causes", "1", "rows"],
    ]
    for table in (CABLES, FINDINGS, CAUSES, ROUNDS):
        assert rows(StoreFolder(out), table) == rows(site.folder, table)
    again = refused("--config", site.folder.path.parent / "with.yaml", "--out", out)
    assert again == f"{out}: is not empty: export into a new folder"


def test_a_journal_has_the_same_episodes(site: RecordedSite, tmp_path: Path) -> None:
    out = tmp_path / "out"
    ended = export("--config", site.folder.path.parent / "without.yaml", "--out", out, "--since", "2026-11-01")
    assert ended.exit_code == 0, ended.output
    assert "it has no devices, modules, counters and light" in ended.stderr
    store = StoreFolder(out)
    assert {tuple(row.items()) for row in rows(store, CABLES)} == {
        tuple(row.items()) for row in rows(site.folder, CABLES)
    }
    assert [row["number"] for row in rows(store, ROUNDS)] == [
        row["number"] for row in reversed(rows(site.folder, ROUNDS))
    ]
    for table, unknown in ((FINDINGS, {"muted", "action"}), (CAUSES, {"severity", "affected_gpus", "summary"})):
        mine, theirs = (
            [{name: row[name] for name in table.names if name not in unknown} for row in rows(one, table)]
            for one in (store, site.folder)
        )
        assert sorted(mine, key=str) == sorted(theirs, key=str)
    assert not truerail.history(out).devices().size


def test_a_journal_from_the_middle_of_an_episode(site: RecordedSite, tmp_path: Path) -> None:
    assert site.journal is not None
    store = StoreFolder(tmp_path)
    store.create("test")
    (repaired,) = {row["ended"] for row in rows(site.folder, CAUSES)}
    export_journal(site.journal, site.plan, store, repaired + timedelta(seconds=30), site.now)
    assert {row["state"] for row in rows(store, CABLES)} == {"right"}
    assert rows(store, FINDINGS) == rows(store, CAUSES) == []
    assert len(rows(store, ROUNDS)) == 3


def test_a_finding_that_came_back_has_an_episode_for_each_time(tmp_path: Path) -> None:
    site = RecordedSite(tmp_path / "store", [SWAP])
    site.journal = open_journal(Settings(f"sqlite:///{tmp_path}/j.db"))
    site.rounds(2, seconds=60)
    site.site.fabric.director.fix(1)
    site.site.settle()
    site.rounds(5, seconds=60)
    site.site.fabric.director.plant(SWAP)
    site.site.settle()
    site.rounds(3, seconds=60)
    site.write()
    store = StoreFolder(tmp_path / "export")
    store.create("test")
    export_journal(site.journal, site.plan, store, site.now - timedelta(days=1), site.now)
    spans = sorted((row["began"], row["ended"] is None) for row in rows(store, CAUSES))
    assert spans == sorted((row["began"], row["ended"] is None) for row in rows(site.folder, CAUSES))
    assert [lasting for _, lasting in spans] == [False, True]
    site.journal.close()


def test_a_capture_is_a_store_of_its_rounds(tmp_path: Path) -> None:
    made = simulate(Shape(hosts=4, rails=4, spines=2, uplinks=2), (SWAP,), seed=3)
    (tmp_path / "plan.csv").write_text(dump_csv(made.plan))
    made.write(tmp_path / "capture")
    out = tmp_path / "out"
    ended = export("--from", tmp_path / "capture", "--plan", tmp_path / "plan.csv", "--out", out)
    assert ended.exit_code == 0, ended.output
    store = truerail.history(out)
    assert store.cables()["state"].value_counts()["wrong"] == 2
    assert list(store.causes()["kind"]) == ["cable-swap"]
    assert set(store.devices()["device"]) == set(made.plan.devices)


def test_what_cannot_be_exported_is_named(tmp_path: Path) -> None:
    assert refused("--out", tmp_path) == "give one source: --config FILE of a service, or --from CAPTURE"
    config, out = tmp_path / "c.yaml", tmp_path / "out"
    config.write_text("inventory: i.yaml\nplan: p.csv\n")
    nothing = "the service has neither a history nor a journal: nothing to export"
    assert refused("--config", config, "--out", out) == f"{config}: {nothing}"
    assert not out.exists()
    assert not (tmp_path / "truerail.db").exists()
    assert "'once' is not a time" in refused("--config", config, "--out", out, "--since", "once")
    (tmp_path / "truerail.db").touch()
    config.write_text("inventory: i.yaml\n")
    assert "names no plan: the journal's cables cannot be exported" in refused("--config", config, "--out", out)
