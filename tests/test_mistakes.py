"""Mistakes in the files that operators write: each is named with its file, line, value and what was expected.

`tests/mistakes/<file>.yaml` lists texts of a file of that name, each with the lines of its error. No secret is shown:
where a text has one, it is `hunter2`.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tests.each import each
from truerail.errors import TruerailError
from truerail.inventory import load_inventory
from truerail.plans import load
from truerail.service.loading import load_settings

READERS: dict[str, Callable[[Path], object]] = {
    "plan.yaml": load,
    "plan.csv": load,
    "inventory.yaml": load_inventory,
    "netbox.yaml": load_inventory,
    "hosts": load_inventory,
    "hosts.yaml": load_inventory,
    "ssh_config": load_inventory,
    "truerail.yaml": load_settings,
}
FOLDER = Path(__file__).parent / "mistakes"


def mistakes(file: str) -> list[dict[str, str]]:
    """`text` and `error`, and `schema` where the schema for editors refuses it too."""
    found: list[dict[str, str]] = yaml.safe_load((FOLDER / f"{file}.yaml").read_text())
    return found


@pytest.mark.parametrize("file", READERS)
@each("mistake", mistakes)
def test_a_mistake_is_named(
    file: str, mistake: dict[str, str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / file
    path.write_text(mistake["text"], encoding="utf-8")
    with pytest.raises(TruerailError) as caught:
        READERS[file](path)
    shown = str(caught.value).replace(f"{tmp_path}/", "")
    assert shown.splitlines() == mistake["error"].splitlines()
    assert "hunter2" not in f"{caught.value!r} {getattr(caught.value, 'problems', ())!r} {caplog.text}"
