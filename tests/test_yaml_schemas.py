"""`truerail schema`: each example is valid by the schema for editors; schema and reader refuse the same mistakes."""

import copy
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

from tests.docs_blocks import PAGES, ROOT, blocks
from tests.each import each
from tests.test_mistakes import mistakes
from truerail.cli.app import app
from truerail.errors import SettingsError
from truerail.inventory import InventoryError, dump_yaml, load_inventory
from truerail.inventory.inventory_keys import PRIVACY_PROTOCOLS, inventory_schema
from truerail.plans import PlanError, load, loads
from truerail.plans import dump_yaml as dump_plan
from truerail.plans.plan_keys import plan_schema
from truerail.service.loading import load_settings
from truerail.service.settings import settings_schema

SCHEMAS = {"plan": plan_schema(), "inventory": inventory_schema(), "settings": settings_schema()}
READERS: dict[str, tuple[Callable[[Path], object], type[Exception]]] = {
    "plan": (load, PlanError),
    "inventory": (load_inventory, InventoryError),
    "settings": (load_settings, SettingsError),
}
FABRICS = sorted((ROOT / "tests" / "fabrics").glob("*.yaml"))
DEPLOYED = [
    path for path in sorted((ROOT / "deploy").rglob("*.yaml")) if path.name in ("truerail.yaml", "inventory.yaml")
]
FREE = ("filter", "roles", "platforms", "headers")
"""Mappings whose keys are NetBox's own, or names of headers."""


class Yaml12(yaml.CSafeLoader):
    """Scalars as an editor sees them: in YAML 1.2, `yes` and `on` are texts, and so is `10:30`."""


Yaml12.yaml_implicit_resolvers = {}
for tag, pattern, first in (
    ("bool", r"true|false", "tf"),
    ("null", r"~|null|", ["~", "n", ""]),
    ("int", r"[-+]?[0-9]+", "-+0123456789"),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", "-+.0123456789"),
):
    Yaml12.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(rf"^(?:{pattern})$"), list(first))


def seen(text: str) -> Any:
    """A file as an editor sees it."""
    return yaml.load(text, Loader=Yaml12)


def faults(kind: str, text: str) -> list[str]:
    """What the schema says against a file."""
    return [error.message for error in Draft202012Validator(SCHEMAS[kind]).iter_errors(seen(text))]


def kind_of(text: str) -> str | None:
    """The kind of file that an example is, by its keys."""
    keys = set(seen(text))
    if keys & {"devices", "netbox"}:
        return "inventory"
    if "inventory" in keys or keys <= {"http", "access", "journal", "page", "schedule", "log"}:
        return "settings"
    return "plan" if keys & {"hosts", "cables", "host_links"} else None


def shown() -> Iterator[tuple[str, str, str]]:
    """Each example of the documentation and of deploy/: where, its kind, its text."""
    for block in (block for page in PAGES for block in blocks(page) if block.language == "yaml"):
        if isinstance(seen(block.text), dict) and (kind := kind_of(block.text)):
            yield block.where, kind, block.text
    for path in DEPLOYED:
        if kind := kind_of(text := path.read_text()):
            yield str(path.relative_to(ROOT)), kind, text


EXAMPLES = [*((str(path.name), "plan", path.read_text()) for path in FABRICS), *shown()]
WHOLE = [
    pytest.param(kind, text, id=where) for where, kind, text in EXAMPLES if kind != "settings" or "inventory:" in text
]


def refused(kind: str, text: str, folder: Path) -> str:
    """What the reader says against a file."""
    read, error = READERS[kind]
    path = folder / "file.yaml"
    path.write_text(text)
    with pytest.raises(error) as raised:
        read(path)
    return str(raised.value)


def test_each_kind_has_many_examples() -> None:
    kinds = [kind for _, kind, _ in EXAMPLES]
    assert kinds.count("plan") >= len(FABRICS) + 2
    assert kinds.count("inventory") >= 5
    assert kinds.count("settings") >= 5


def described(schema: Any, value: Any) -> bool:
    """Whether a reference is explained where it leads to."""
    return "$ref" in value and bool(schema["$defs"][value["$ref"].removeprefix("#/$defs/")]["description"])


@pytest.mark.parametrize("kind", SCHEMAS)
def test_a_schema_is_one_of_draft_2020_12_and_explains_each_key(kind: str) -> None:
    schema = SCHEMAS[kind]
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    Draft202012Validator.check_schema(schema)
    parts = {"": schema, **schema["$defs"]}
    bare = [
        f"{name}.{key}"
        for name, part in parts.items()
        for key, value in part["properties"].items()
        if not value.get("description") and not described(schema, value)
    ]
    assert bare == []
    assert all(part["additionalProperties"] is False for part in parts.values())


@pytest.mark.parametrize("kind", SCHEMAS)
def test_the_command_prints_the_schema(kind: str) -> None:
    done = CliRunner().invoke(app, ["schema", kind])
    assert (done.exit_code, done.stderr) == (0, "")
    assert json.loads(done.stdout) == json.loads(json.dumps(SCHEMAS[kind]))


@each("kind, text", [pytest.param(kind, text, id=where) for where, kind, text in EXAMPLES])
def test_an_example_is_valid(kind: str, text: str) -> None:
    complete = text if kind != "settings" or "inventory:" in text else f"{text}\ninventory: inventory.yaml\n"
    assert faults(kind, complete) == []


@each("path", FABRICS, ids=lambda path: path.name)
def test_what_truerail_writes_is_valid(path: Path) -> None:
    assert faults("plan", dump_plan(load(path))) == []


def test_an_inventory_that_truerail_writes_is_valid(tmp_path: Path) -> None:
    text = next(text for where, kind, text in EXAMPLES if kind == "inventory" and where.startswith("docs/inventory.md"))
    (tmp_path / "inventory.yaml").write_text(text)
    assert faults("inventory", dump_yaml(load_inventory(tmp_path / "inventory.yaml"))) == []


def mistyped(value: Any) -> Iterator[Any]:
    """The value with one letter of one key doubled, for each key in it."""
    if isinstance(value, list):
        for at, one in enumerate(value):
            yield from ([*value[:at], other, *value[at + 1 :]] for other in mistyped(one))
    elif isinstance(value, dict):
        for key, one in value.items():
            yield {(f"{key}{key[-1]}" if name == key else name): copy.deepcopy(kept) for name, kept in value.items()}
            yield from ({**value, key: other} for other in (mistyped(one) if key not in FREE else ()))


@each("kind, text", WHOLE)
def test_a_mistyped_key_is_refused_by_schema_and_reader(kind: str, text: str, tmp_path: Path) -> None:
    """One fault a file: the first of each key, as the reader of a large plan takes a while."""
    tried: set[str] = set()
    for data in mistyped(seen(text)):
        wrong = yaml.dump(data, Dumper=yaml.CSafeDumper, sort_keys=False)
        new = set(re.findall(r"[\w-]+(?=:)", wrong)) - set(re.findall(r"[\w-]+(?=:)", text)) - tried
        if not new:
            continue
        tried |= new
        assert faults(kind, wrong), wrong
        refused(kind, wrong, tmp_path)
    assert tried


FILES = {"plan": "plan.yaml", "inventory": "inventory.yaml", "settings": "truerail.yaml"}


@pytest.mark.parametrize("kind", FILES)
def test_a_wrong_value_is_refused_by_schema_and_reader(kind: str) -> None:
    """By the reader in `test_mistakes`."""
    wrong = [one["text"] for one in mistakes(FILES[kind]) if "schema" in one]
    assert len(wrong) > 5
    assert [text for text in wrong if not faults(kind, text)] == []


RIGHT = [
    ("plan", "speed: 1.6T"),
    ("plan", "hosts: {nodes: [a, b], unit: [1, 2], aliases: [[x, y], 'u-[1-2]']}"),
    ("plan", "cables: [gpu-1/nic0 leaf-0/swp1 rail=0 label=A-1, {a: h/n, b: l/p, length_m: 2.5}]"),
    ("inventory", "defaults:\ndevices: {name: h, port: '22', agent: no, unit: 3}"),
    ("inventory", f"devices: [{{name: h, snmp: {{version: 2c, community: {{env: C}}}}}}]  # {PRIVACY_PROTOCOLS[0]}"),
    ("inventory", "devices: {name: h, role: leaf, transport: gnmi, gnmi: {ca: c, port: '9339', target: OC-YANG}}"),
    ("settings", "inventory: a\nschedule: {jitter: 0, every: {lldp_host: 90}}\nmetrics: {traffic: no}"),
    ("settings", "inventory: a\nplan: null\njournal: {url: '', password: {credential: db}}"),
]


@each("kind, text", RIGHT)
def test_what_the_reader_takes_the_schema_takes(kind: str, text: str, tmp_path: Path) -> None:
    assert faults(kind, text) == []
    if kind == "plan":
        assert loads(text, ".yaml")
    else:
        path = tmp_path / "file.yaml"
        path.write_text(text)
        assert READERS[kind][0](path)
