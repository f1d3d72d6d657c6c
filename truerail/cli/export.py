"""`truerail export`: what truerail knows, for other programs: the history of a fabric as a folder of Parquet files, for
SQL, pandas and others; its topology for schedulers.
"""

from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from truerail.cli import terminal_output
from truerail.cli.exit_codes import refused_by_system, refusing
from truerail.cli.oncall import LOCAL_SERVICE, Capture, Inventory, PlanFile, Service, TokenFile
from truerail.errors import CommandError, HistoryStoreError, JournalUnavailableError, QueryError

if TYPE_CHECKING:
    from truerail.history.store_folder import StoreFolder
    from truerail.service.settings import Settings

app = typer.Typer(help="Write a fabric's history, or its topology for schedulers.", no_args_is_help=True)


class TopologyFormat(StrEnum):
    """The formats of the topology."""

    SLURM = "slurm"
    SLURM_YAML = "slurm-yaml"
    TOPOGRAPH = "topograph"
    K8S_LABELS = "k8s-labels"
    NCCL = "nccl"


@app.command(short_help="Print the tree of hosts and switches for a scheduler.")
def topology(
    format: Annotated[  # noqa: A002 - the option's name
        TopologyFormat, typer.Option(help="k8s-labels: kubectl commands; nccl: NCCL_IB_HCA.")
    ] = TopologyFormat.SLURM,
    nccl: Annotated[
        str | None, typer.Option(metavar="VERSION", help="With nccl: from 2.30 on each device has its rail and plane.")
    ] = None,
    service: Service = LOCAL_SERVICE,
    token_file: TokenFile = None,
    capture: Capture = None,
    inventory: Inventory = None,
    plan: PlanFile = None,
) -> None:
    """Print the tree of hosts and switches for a scheduler, from where cables are seen. Nothing is applied."""
    from truerail.cli.oncall_source import Source, ask
    from truerail.questions.scheduler_topology import QUESTION

    source = Source(service, token_file, capture, inventory, plan)
    answer, _ = ask(QUESTION, {"format": format.value, "nccl": nccl}, source)
    terminal_output.say(answer.text.removesuffix("\n"))
    terminal_output.remark(answer.summary)


@app.command(short_help="Write the history as Parquet files.")
def history(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Empty or new folder for the Parquet files.")],
    config: Annotated[
        Path | None,
        typer.Option("--config", "-c", metavar="FILE", help="Settings of a service: its history, else its journal."),
    ] = None,
    capture: Annotated[
        Path | None, typer.Option("--from", metavar="CAPTURE", help="Capture: every round in it.")
    ] = None,
    plan: Annotated[
        Path | None, typer.Option(metavar="PLAN", help="Plan of the capture; without one the rails are inferred.")
    ] = None,
    since: Annotated[str, typer.Option(metavar="TIME", help="7d, yesterday, 2026-11-20.")] = "7d",
) -> None:
    """Write a fabric's history as Parquet files: from a service's history store, its journal, or a capture."""
    from truerail.history.arrow_tables import arrow
    from truerail.history.store_folder import StoreFolder
    from truerail.questions.moments import moment

    if (config is None) == (capture is None):
        raise CommandError("give one source: --config FILE of a service, or --from CAPTURE")
    with refused_by_system(out, by_file=True), refusing(HistoryStoreError, JournalUnavailableError, QueryError):
        arrow()
        begin = moment(since, datetime.now(UTC))
        folder = StoreFolder(out)
        if config is not None:
            _service(config, folder, begin)
        elif capture is not None:
            _capture(capture, plan, folder)
    terminal_output.say_rows(_summary(folder))


def _summary(folder: "StoreFolder") -> list[tuple[str, str, str]]:
    import pyarrow.parquet as pq

    from truerail.history.history_tables import TABLES
    from truerail.history.store_folder import files_of

    rows = []
    for table in TABLES.values():
        paths = files_of(folder, table).readable
        count = sum(pq.ParquetFile(path).metadata.num_rows for path in paths)
        rows.append((table.name, f"{count:,} rows", f"{sum(p.stat().st_size for p in paths) / 1e6:,.2f} MB"))
    return rows


def _service(config: Path, folder: "StoreFolder", since: datetime) -> None:
    from truerail.cli.serve import read_settings
    from truerail.history.store_folder import MANIFEST, StoreFolder

    settings = read_settings(config)
    if settings.history is not None and (settings.history.path / MANIFEST).exists():
        store = StoreFolder(settings.history.path)
        store.manifest()
        _fresh(folder, settings.fabric)
        store.copy_to(folder, since)
        return
    _journal(settings, config, folder, since)
    terminal_output.remark(
        f"from the journal alone: it has no devices, modules, counters and light. `history: {{path: history}}` in "
        f"{config} keeps them from then on"
    )


def _journal(settings: "Settings", config: Path, folder: "StoreFolder", since: datetime) -> None:
    from truerail.cli.evaluating import load_plan
    from truerail.history.journal_export import export_journal
    from truerail.journal import open_journal

    file = Path(settings.journal.url.removeprefix("sqlite:///"))
    if not settings.journal.url or (settings.journal.url.startswith("sqlite:") and not file.exists()):
        raise CommandError(f"{config}: the service has neither a history nor a journal: nothing to export")
    if settings.plan is None:
        raise CommandError(f"{config}: names no plan: the journal's cables cannot be exported without it")
    plan = load_plan(settings.plan)
    journal = open_journal(settings.journal)
    try:
        _fresh(folder, settings.fabric)
        export_journal(journal, plan, folder, since, datetime.now(UTC))
    finally:
        journal.close()


def _capture(capture: Path, plan: Path | None, folder: "StoreFolder") -> None:
    """Every round of a capture, one after the other, as a service would have recorded them."""
    from truerail.cli.evaluating import inferred, load_plan, read, round_of
    from truerail.history.recorder import Recorder
    from truerail.rounds import publication_of

    intended = load_plan(plan) if plan else None
    newest = read(capture, intended)
    if intended is None:
        intended, _ = inferred(newest.snapshot())
    _fresh(folder, intended.name or capture.name)
    recorder = Recorder(folder)
    for name in newest.rounds[:-1]:
        seen = read(capture, intended, name)
        recorder.observe(publication_of(round_of(intended, seen, seen.snapshot())))
    recorder.observe(publication_of(round_of(intended, newest, newest.snapshot())))
    recorder.flush(datetime.now(UTC))


def _fresh(folder: "StoreFolder", fabric: str) -> None:
    """Makes an empty store. Raises HistoryStoreError for a folder with anything in it."""
    if folder.path.exists() and any(folder.path.iterdir()):
        raise HistoryStoreError(f"{folder.path}: is not empty: export into a new folder")
    folder.create(fabric)
