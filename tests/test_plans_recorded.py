"""Plan files as other tools and people write them are read as their folder in `tests/plan_files/` says.

A case has one plan file and either `plan.json` (its format, cables, devices and what was left out, and why nothing can
be evaluated against it) or `error.txt` (why it is refused). `TRUERAIL_REFRESH=1 pytest tests/test_plans_recorded.py`
writes both again, to be reviewed as a diff.

Sources of the texts, shortened and renamed: NetBox' tables, REST and GraphQL answers and Nautobot's; netlab's
tests/topology/input; topograph's tests/models/medium.yaml; sonic-buildimage's Configuration.md, `minigraph.py` and
golden config of several ASICs; sonic-mgmt's `lab_connection_graph.xml`; the CSV of Arista's AVD, cEOS-Topo and Vane;
FastFabric's `opaxlattopology_cust`; Tenstorrent's cut sheets (tt-metal `tools/scaleout`); Batfish's layer 1 edges;
containerlab's manual; NVIDIA Air's SDK; CANU and CANI; UFM's plugin of NDT files; sFlow-RT; NeXt UI; Huawei's VRP;
Cumulus' topology_converter; acitoolkit's cableplan; LLDPq's ai_p2p.py; Network as Code for VXLAN.
"""

import json
from contextlib import suppress
from pathlib import Path

from tests.each import each
from tests.test_recordings import REFRESH
from truerail.model import Cable, Device, Plan
from truerail.plans import PlanError, dump_csv, dump_yaml, load, loads
from truerail.plans.imports import import_plan

SAID = ("plan.json", "error.txt")
CASES = sorted(path for path in (Path(__file__).parent / "plan_files").iterdir() if path.is_dir())


def outcome(file: Path) -> tuple[str, str]:
    """The name of the file that holds the outcome of reading a plan file, and what belongs into it."""
    try:
        plan = load(file, unnamed=True)
    except PlanError as error:
        return "error.txt", f"{error}\n".replace(f"{file.parent}/", "")
    return "plan.json", json.dumps(described(file, plan), indent=2, ensure_ascii=False) + "\n"


def described(file: Path, plan: Plan) -> dict[str, object]:
    """What a plan has, with `format` where it is that of another tool, and `refused` where ports have no name."""
    words: dict[str, object] = {}
    with suppress(PlanError):
        words["format"] = import_plan(file).format
    words["cables"] = [cable_words(cable) for cable in plan.cables]
    words["devices"] = {name: device_words(device) for name, device in plan.devices.items()}
    words["notes"] = plan.notes
    try:
        load(file)
    except PlanError as error:
        words["refused"] = str(error).replace(f"{file.parent}/", "")
    return words


def cable_words(cable: Cable) -> str:
    """`gpu-1/eth1 leaf-1/swp1 rail=0`: both ends, and each value that the cable has. Speed in Gb/s, length in m."""
    values = {"rail": cable.rail, "plane": cable.plane, "speed": cable.speed_gbps, "length": cable.length_m}
    words = [f"{key}={value:g}" for key, value in values.items() if value is not None]
    texts = {"label": cable.label, "via": " > ".join(map(str, cable.via))}
    return " ".join([f"{cable.a} {cable.b}", *words, *(f"{key}={text}" for key, text in texts.items() if text)])


def device_words(device: Device) -> str:
    """`host rack=R1 unit=4`: the role, and each value that the device has."""
    values = {"pod": device.pod, "rack": device.rack, "unit": device.unit}
    values |= {"chassis": " ".join(device.chassis_ids), "serials": " ".join(device.serials)}
    values["aliases"] = " ".join(device.aliases)
    return " ".join(
        [device.role.value, *(f"{key}={value}" for key, value in values.items() if value not in ("", None))]
    )


def file_of(case: Path) -> Path:
    (file,) = (path for path in case.iterdir() if path.name not in SAID)
    return file


@each("case", CASES, ids=lambda case: case.name)
def test_a_plan_file_is_read_as_its_folder_says(case: Path) -> None:
    kind, content = outcome(file_of(case))
    if REFRESH:
        for name in SAID:
            (case / name).unlink(missing_ok=True)
        (case / kind).write_text(content)
    assert {name: (case / name).read_text() for name in SAID if (case / name).exists()} == {kind: content}


@each("case", [case for case in CASES if (case / "plan.json").exists()], ids=lambda case: case.name)
def test_an_imported_plan_is_the_same_in_the_formats_of_truerail(case: Path) -> None:
    plan = load(file_of(case), unnamed=True)
    again = loads(dump_csv(loads(dump_yaml(plan), ".yaml")), ".csv")
    assert sorted(f"{cable.a} {cable.b}" for cable in again.cables) == sorted(f"{one.a} {one.b}" for one in plan.cables)
    roles = ({name: device.role for name, device in read.devices.items()} for read in (again, plan))
    assert next(roles) == next(roles)
