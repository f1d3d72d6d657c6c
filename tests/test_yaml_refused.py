"""Every YAML file that the product reads: brackets without end are refused by line, a second block also by `serve`."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from truerail.errors import SettingsError
from truerail.inventory import InventoryError, load_inventory
from truerail.plans import PlanError, load
from truerail.service.loading import load_settings

FILES: dict[str, tuple[Callable[[Path], object], type[Exception]]] = {
    "settings": (load_settings, SettingsError),
    "plan": (load, PlanError),
    "inventory": (load_inventory, InventoryError),
}


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("deep", ["[" * 100_000, "{a: " * 100_000, "- " * 50_000, "[" * 17 + "]" * 17])
def test_depth_without_end_is_refused_with_its_line(tmp_path: Path, kind: str, deep: str) -> None:
    read, error = FILES[kind]
    path = tmp_path / "file.yaml"
    path.write_text(f"# one\ninventory: {deep}\n" if deep[0] != "-" else f"# one\n{deep}\n")
    with pytest.raises(error) as raised:
        read(path)
    assert f"{path}:2: nested more than 16 deep" in str(raised.value)


def test_the_command_says_where_the_second_block_stands(tmp_path: Path) -> None:
    (tmp_path / "inventory.yaml").write_text("devices: [{name: h1}]\n")
    path = tmp_path / "truerail.yaml"
    path.write_text("inventory: inventory.yaml\naccess: {session: 1h}\naccess: {}\n")
    words = [sys.executable, "-m", "truerail", "serve", "--check", "--config", str(path)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert ":3: a duplicate key, first in line 2 (value 'access')" in done.stderr
