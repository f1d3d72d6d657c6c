"""`truerail query` as people type it."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from tests.history_rows import NOW, cable, hour, store_of
from truerail.cli.app import app
from truerail.errors import CommandError
from truerail.history.history_tables import TABLES


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return store_of(
        tmp_path_factory.mktemp("cli") / "history",
        cables=[cable("gpu-1", 48, None, "leaf-\x1b[31m", "wrong")],
        counters_hours=[hour("gpu-1", "nic0", 5, link_downs=4.0)],
    )


def query(*words: str | Path) -> tuple[str, str]:
    """What a command prints on stdout and stderr. Raises CommandError."""
    done = CliRunner().invoke(app, ["query", *map(str, words)])
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.stdout, done.stderr


def test_tables_and_questions_are_explained_without_a_store() -> None:
    tables, _ = query("--tables")
    assert all(f"\n{name}: " in tables for name in TABLES)
    assert "rx_power_dbm_min" in tables
    listed, _ = query("--list")
    assert "\nslow-receivers: " in listed
    assert "--lldp-name" in listed


def test_a_ready_made_question_is_a_table_and_says_what_it_lacks(store: Path) -> None:
    shown, lacks = query("flapping-ports", "--store", store, "--since", "2026-11-01", "--until", NOW.isoformat())
    assert shown.splitlines()[0] == "Top flapping links"
    assert "gpu-1   nic0  host  0     leaf-0/swp1  4" in shown
    assert "1 of 2 ports report link downs; the others are unknown." in lacks
    assert "counters_hours: begins on 2026-11-20." in lacks


def test_sql_is_a_table_whose_text_commands_no_terminal(store: Path) -> None:
    shown, _ = query("select device, actual_device, ended from cables", "--store", store)
    assert shown == "device  actual_device  ended\ngpu-1   leaf-\\x1b[31m  -\n"


def test_a_file_is_written_as_a_whole(store: Path, tmp_path: Path) -> None:
    _, said = query(
        "select device from cables", "--store", store, "--format", "parquet", "--out", tmp_path / "x.parquet"
    )
    assert pq.read_table(tmp_path / "x.parquet").to_pylist() == [{"device": "gpu-1"}]
    assert "x.parquet: 1 rows" in said
    with pytest.raises(CommandError, match="did you mean 'device'"):
        query("select devise from cables", "--store", store, "--format", "csv", "--out", tmp_path / "y.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["x.parquet"]


def test_the_store_comes_from_the_settings(store: Path, tmp_path: Path) -> None:
    settings = tmp_path / "truerail.yaml"
    settings.write_text(f"inventory: inventory.yaml\nhistory: {{path: {json.dumps(str(store))}}}\n")
    shown, _ = query("select count(*) as cables from cables", "--config", settings, "--format", "json")
    assert json.loads(shown) == [{"cables": 1}]
    settings.write_text("inventory: inventory.yaml\n")
    with pytest.raises(CommandError, match=r"has no history: \{path: DIR\}"):
        query("select 1", "--config", settings)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "give a SELECT in quotes or the name of a question"),
        (("flapping-prots",), "did you mean 'flapping-ports'"),
        (("rail-load-between",), "needs rail"),
        (("flapping-ports", "--step", "1h"), "has no parameter 'step'"),
        (("select 1", "--since", "7d"), "--since goes with a ready-made question"),
        (("select 1", "--format", "parquet"), "give --out FILE"),
        (("select 1", "--timeout", "soon"), "--timeout: 'soon' is not a duration"),
        (("select 1", "--timeout", "0"), "leaves no time"),
    ],
)
def test_a_wrong_command_is_named(store: Path, words: tuple[str, ...], message: str) -> None:
    with pytest.raises(CommandError) as caught:
        query(*words, "--store", store)
    assert message in str(caught.value)


def test_a_command_without_a_store_says_how_to_name_one(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="--store DIR"):
        query("select 1", "--config", tmp_path / "truerail.yaml")
