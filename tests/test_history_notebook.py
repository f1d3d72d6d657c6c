"""docs/history.ipynb runs, on a store of the simulator's, and each of its cells shows what its text says."""

import asyncio
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.history_site import RecordedSite
from tests.patience import ENOUGH
from truerail.model import CauseKind
from truerail.simulator import Fault

NOTEBOOK = Path(__file__).parents[1] / "docs" / "history.ipynb"


@pytest.fixture
def quiet_ports(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The kernel's files stay in the test's folder."""
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "JUPYTER_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name))


@pytest.mark.usefixtures("quiet_ports")
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning", "ignore::RuntimeWarning")
def test_the_notebook_runs_on_a_recorded_fabric(tmp_path: Path) -> None:
    faults = [Fault(CauseKind.CABLE_SWAP, "one-host"), Fault(CauseKind.LEAF_SWAP, "labels")]
    site = RecordedSite(tmp_path / "history", faults)
    site.rounds(14)
    site.write()
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    client = NotebookClient(notebook, timeout=int(ENOUGH), resources={"metadata": {"path": str(tmp_path)}})
    asyncio.run(client.async_execute())
    shown = [str(cell.outputs[-1]["data"]["text/plain"]) for cell in notebook.cells if cell.cell_type == "code"]
    assert shown[0] == "<history of test in history>"
    assert "rx_bytes" in shown[1]
    assert "cable-swap" in shown[2]
    assert "leaf-swap" in shown[2]
    assert shown[3].count("gpu-") >= 2
    assert "2026-11-20 14:17:00+00:00" in shown[4]
    assert "link_downs" in shown[5]
    assert (shown[6].count("leaf-1"), shown[6].count("leaf-2")) == (2, 2)
    assert shown[7] == "()"


def test_the_committed_notebook_has_no_outputs() -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert not [cell for cell in notebook.cells if cell.cell_type == "code" and (cell.outputs or cell.execution_count)]
