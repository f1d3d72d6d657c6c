"""`truerail serve` before it begins: what a user has to mend is named, with the exit code of bad input."""

import subprocess
import sys
from pathlib import Path

from tests.live_site import Run
from tests.patience import ENOUGH


def test_a_plan_with_a_mistake_is_named_with_its_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "plan.csv").write_text("a_device,a_role\nx,y\n")
    (tmp_path / "inventory.yaml").write_text("devices:\n  - {name: h1, role: host, address: 127.0.0.1}\n")
    (tmp_path / "truerail.yaml").write_text("inventory: inventory.yaml\nplan: plan.csv\n")
    code, _, err = run("serve", "--check", "--config", tmp_path / "truerail.yaml")
    assert code == 2
    assert "plan.csv:1: missing a_port" in err


def test_an_inventory_without_devices_leaves_nothing_to_watch(run: Run, tmp_path: Path) -> None:
    (tmp_path / "inventory.yaml").write_text("devices: []\n")
    (tmp_path / "truerail.yaml").write_text("inventory: inventory.yaml\n")
    code, _, err = run("serve", "--check", "--config", tmp_path / "truerail.yaml")
    assert code == 2
    assert "inventory.yaml" in err


def test_a_journal_without_its_folder_is_named(tmp_path: Path) -> None:
    """By the service alone: its settings may be checked on another machine."""
    (tmp_path / "inventory.yaml").write_text("devices:\n  - {name: h1, role: host, address: 127.0.0.1}\n")
    journal = tmp_path / "none" / "journal.db"
    (tmp_path / "truerail.yaml").write_text(f"inventory: inventory.yaml\njournal: {{url: 'sqlite:///{journal}'}}\n")
    command = [sys.executable, "-m", "truerail", "serve", "--config", str(tmp_path / "truerail.yaml")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=ENOUGH, check=False)
    assert (done.returncode, done.stderr) == (2, f"truerail: journal: {journal.parent}: no such folder: make it\n")
