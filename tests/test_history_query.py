"""SQL over a history store: what it may read, what it may use, and the forms of its result."""

import io
from pathlib import Path

import duckdb
import orjson
import pyarrow.parquet as pq
import pytest

from tests.each import each
from tests.history_rows import HOUR, NOW, cable, run, store_of
from truerail.errors import HistoryStoreError, NotFoundError, QueryError, QueryLimitError
from truerail.history.history_tables import COUNTERS_HOURS, TABLES, described
from truerail.history.query import run_query
from truerail.history.query.allowed_sql import LONGEST_SQL, allowed
from truerail.history.query.query_process import connect, lock
from truerail.history.query.query_request import MEBIBYTE, Form, Limits
from truerail.history.ready.ready_question import ready_questions

BY_THE_CONNECTION, BEFORE_IT = (
    block.splitlines()[1:] for block in (Path(__file__).parent / "history_refused.sql").read_text().split("\n\n")
)
TRICKS = (
    "SELECT 1; SELECT 2",
    "SELECT 1; COPY (SELECT 1) TO '/tmp/stolen.csv'",
    "",
    "  -- only a remark",
    "SELECT * FROM query('SELECT * FROM read_text(''/etc/passwd'')')",
    "SELECT * FROM query_table('/etc/passwd')",
    "SELECT * FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1'))",
    "SELECT * FROM arrow_scan(1, 2, 3)",
    "SELECT * FROM pandas_scan(1)",
    "SELECT * FROM python_map_function(1)",
    "SELECT * FROM secret",
    "SELECT * FROM memory.other.cables",
    "SELECT " + "(" * 2000 + "1" + ")" * 2000,
    "SELECT '" + "x" * LONGEST_SQL + "'",
    "SELEC 1",
)
secret = pq  # a variable that DuckDB must not take for a table


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = [
        cable("gpu-1", 48, 24, "leaf-0", "right"),
        cable("gpu-1", 24, None, "=cmd|' /C calc'!A0", "wrong", pod="\x1b[2J\u202e\u009b31m"),
    ]
    return store_of(tmp_path_factory.mktemp("store") / "it's", cables=rows)


@pytest.fixture(scope="module")
def connection() -> duckdb.DuckDBPyConnection:
    return connect(Limits())


@pytest.fixture(scope="module")
def locked() -> duckdb.DuckDBPyConnection:
    made = connect(Limits())
    lock(made, [])
    return made


@each("sql", [*BY_THE_CONNECTION, *BEFORE_IT, *TRICKS])
def test_what_does_more_than_read_the_store_is_refused(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    with pytest.raises((QueryError, NotFoundError)):
        allowed(connection, sql, TABLES)


@each("sql", BY_THE_CONNECTION)
def test_the_connection_refuses_it_too(locked: duckdb.DuckDBPyConnection, sql: str) -> None:
    with pytest.raises(duckdb.Error):
        locked.execute(sql)


@each(
    "sql, tables",
    [
        ("SELECT * FROM cables", ("cables",)),
        ("select 1", ()),
        ("FROM Cables", ("cables",)),
        ("DESCRIBE cables", ("cables",)),
        ("SUMMARIZE cables", ("cables",)),
        ("EXPLAIN SELECT * FROM cables", ("cables",)),
        ("explain analyze select 1", ()),
        ("SHOW TABLES", tuple(sorted(TABLES))),
        ("WITH x AS (SELECT * FROM cables) SELECT * FROM x, unnest([1]), range(3)", ("cables",)),
        ("SELECT 'COPY; INSTALL' -- read_csv('x')", ()),
    ],
)
def test_what_reads_the_store_is_allowed(
    connection: duckdb.DuckDBPyConnection, sql: str, tables: tuple[str, ...]
) -> None:
    assert allowed(connection, sql, TABLES).tables == tables


def test_a_result_has_rows_and_their_columns(store: Path) -> None:
    raw, report = run(store, "SELECT device, state, began, ended FROM cables ORDER BY began")
    assert orjson.loads(raw) == {
        "columns": ["device", "state", "began", "ended"],
        "rows": [
            ["gpu-1", "right", (NOW - 48 * HOUR).isoformat(), (NOW - 24 * HOUR).isoformat()],
            ["gpu-1", "wrong", (NOW - 24 * HOUR).isoformat(), None],
        ],
    }
    assert (report.rows, report.more, report.unreadable) == (2, False, ())


def test_values_of_every_type_have_json(store: Path) -> None:
    sql = "sum(1::HUGEINT) a, 1.5::DECIMAL(4, 2) b, 'nan'::DOUBLE c, {'x': [1]} d, DATE '2026-01-01' e, 'x'::BLOB f"
    raw, _ = run(store, f"SELECT {sql}", form=Form.JSON)
    assert orjson.loads(raw) == [{"a": 1, "b": 1.5, "c": None, "d": {"x": [1]}, "e": "2026-01-01", "f": "b'x'"}]


def test_foreign_text_commands_no_terminal_and_no_spreadsheet(store: Path) -> None:
    for form in (Form.CSV, Form.JSON, Form.TABLE):
        raw, _ = run(store, "SELECT pod, actual_device FROM cables WHERE state = 'wrong'", form=form)
        assert all(byte >= 0x20 or byte in b"\r\n" for byte in raw)
        assert not {"\u009b", "\u202e"} & set(raw.decode())
        assert form is not Form.CSV or b",'=cmd|" in raw


def test_parquet_is_as_stored(store: Path) -> None:
    raw, _ = run(store, "SELECT pod FROM cables WHERE state = 'wrong'", form=Form.PARQUET)
    assert pq.read_table(io.BytesIO(raw)).to_pylist() == [{"pod": "\x1b[2J\u202e\u009b31m"}]


def test_rows_end_at_the_limit(store: Path) -> None:
    raw, report = run(store, "SELECT * FROM range(100000)", Limits(rows=3))
    assert orjson.loads(raw)["rows"] == [[0], [1], [2]]
    assert report.more


def test_no_column_needs_quotes() -> None:
    bare = "SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category <> 'unreserved'"
    words = {word for (word,) in duckdb.sql(bare).fetchall()}
    fields = [*(field for _, field in described()), *(one for q in ready_questions().values() for one in q.columns)]
    assert len(words) > 50
    assert words.isdisjoint({field.name for field in fields})


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("SELECT * FROM cabels", "table 'cabels' is not known, did you mean 'cables'?"),
        ("SELECT devise FROM cables", "column 'devise' is not known, did you mean 'device'?"),
        ("SELECT c.stat FROM cables c", "column 'stat' is not known, did you mean 'state'?"),
        ("SELECT nothing(1)", "nothing"),
    ],
)
def test_an_error_names_the_nearest(store: Path, sql: str, words: str) -> None:
    with pytest.raises((QueryError, NotFoundError)) as caught:
        run(store, sql)
    assert words in str(caught.value.args[0])


@pytest.mark.parametrize("selected", ["count(*)", "*"])
def test_a_query_ends_at_its_time(store: Path, selected: str) -> None:
    with pytest.raises(QueryLimitError, match=r"longer than 0\.2 s"):
        run(store, f"SELECT {selected} FROM range(1000000000000)", Limits(seconds=0.2), Form.CSV)


@pytest.mark.parametrize("sql", ["SELECT range(1000000000)", "SELECT list(range) FROM range(100000000)"])
def test_a_query_ends_at_its_memory(store: Path, sql: str) -> None:
    """The first takes memory that DuckDB does not count: the process is limited as well."""
    with pytest.raises(QueryLimitError, match="more than 64 MiB"):
        run(store, sql, Limits(memory_bytes=64 * MEBIBYTE))


def test_torn_files_are_left_out_and_reported(tmp_path: Path) -> None:
    begin = [{"device": "gpu-1", "port": "nic0", "bucket": NOW - hours * HOUR, "seconds": 1.0} for hours in (1, 2)]
    store = store_of(tmp_path, counters_hours=begin[:1])
    store_of(tmp_path, counters_hours=begin[1:])
    parts = sorted((tmp_path / COUNTERS_HOURS.name).rglob("*.parquet"))
    parts[1].write_bytes(parts[1].read_bytes()[:-10])
    raw, report = run(store, "SELECT count(*) FROM counters_hours")
    assert orjson.loads(raw)["rows"] == [[1]]
    assert len(report.unreadable) == 1
    assert report.unreadable[0].startswith(f"{parts[1]}: ")


def test_a_folder_that_is_no_store_is_named(tmp_path: Path) -> None:
    with pytest.raises(HistoryStoreError, match="no history store"):
        run(tmp_path, "SELECT 1 FROM cables")


def test_the_process_has_no_variable_of_its_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRUERAIL_HTTP__HOST", "hidden")
    assert set(run_query._environment()) == {"LANG", "PYTHONPATH", "TZ"}
