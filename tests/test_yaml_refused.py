"""Every YAML file that the product reads: a key that is there twice, and brackets without end, are refused by line."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from truerail.errors import SettingsError
from truerail.inventory import InventoryError, load_inventory
from truerail.plans import PlanError, load
from truerail.service.loading import load_settings

FILES: dict[str, tuple[Callable[[Path], object], type[Exception], str, str]] = {
    "settings": (load_settings, SettingsError, "inventory: a.yaml\naccess: {}\n", "access: {tokens: []}\n"),
    "plan": (load, PlanError, "name: a\nhosts: {nodes: h1}\n", "hosts: {nodes: h2}\n"),
    "inventory": (load_inventory, InventoryError, "defaults: {user: a}\ndevices: {name: h}\n", "devices: {name: h2}\n"),
    "ansible": (load_inventory, InventoryError, "all:\n  hosts:\n    h1: {}\n", "    h1: {ansible_user: x}\n"),
    "netbox": (load_inventory, InventoryError, "netbox:\n  url: http://a\n", "  url: http://b\n"),
}


@pytest.mark.parametrize("kind", FILES)
def test_a_key_that_is_there_twice_is_refused_with_both_lines(tmp_path: Path, kind: str) -> None:
    read, error, text, second = FILES[kind]
    path = tmp_path / "file.yaml"
    path.write_text(text + second)
    with pytest.raises(error) as raised:
        read(path)
    last = text.count("\n") + 1
    reported = str(raised.value)
    assert f"{path}:{last}: a duplicate key, first in line" in reported, reported


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("deep", ["[" * 100_000, "{a: " * 100_000, "- " * 50_000, "[" * 17 + "]" * 17])
def test_depth_without_end_is_refused_with_its_line(tmp_path: Path, kind: str, deep: str) -> None:
    read, error, _, _ = FILES[kind]
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
