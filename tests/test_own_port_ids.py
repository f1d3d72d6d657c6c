"""What a switch says of its own ports names those that its neighbours hear by an id alone."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.capture_trees import grow
from tests.live_site import Run

HOSTS, RAILS = 4, 2
IDS = {"sonic": "port-{}", "junos": "{}", "junos-text": "{}"}
"""Ids that no scheme of aliases explains."""


def port(nos: str, host: int) -> str:
    return f"Ethernet{8 * (host - 1)}" if nos == "sonic" else f"et-0/0/{host - 1}"


def sent(nos: str, host: int) -> str:
    """The ids count down while the ports count up."""
    return IDS[nos].format(540 - 7 * host)


def heard(nos: str, places: dict[int, list[tuple[int, int]]], host: int) -> str:
    """What lldpd of a host hears: on each NIC the leaf and the id of its port."""
    rows = []
    for rail, (leaf, place) in enumerate(places[host]):
        chassis = {f"leaf-{leaf}": {"id": {"type": "mac", "value": f"02:00:00:00:00:0{leaf}"}}}
        far = {"id": {"type": "local", "value": sent(nos, place)}, "descr": f"to rail {rail}", "ttl": "120"}
        rows.append({f"ens{rail}f0": {"via": "LLDP", "rid": "1", "chassis": chassis, "port": far}})
    return json.dumps({"lldp": {"interface": rows}})


def own(nos: str) -> tuple[str, str]:
    """The command and what the switch answers of itself."""
    pairs = [(port(nos, host), sent(nos, host)) for host in range(1, HOSTS + 1)]
    if nos == "sonic":
        rows = "".join(f"{name:11}  {alias}\n" for name, alias in pairs)
        return "show_interfaces_alias", f"Name         Alias\n-----------  --------\n{rows}"
    if nos == "junos-text":
        labels = "Interface name    Parent Interface  Interface ID  Interface description  Status    Tunneling\n"
        rows = "".join(f"{name:17} -                 {number:13} to a host up to 3     Up        Disabled\n"
                       for name, number in pairs)  # fmt: skip
        return "show_lldp_local-information", f"LLDP Local Information details\n\n{labels}{rows}"
    ports = [
        {"lldp-local-interface-name": [{"data": name}], "lldp-local-interface-id": [{"data": number}]}
        for name, number in pairs
    ]
    document = {"lldp-local-info": [{"lldp-local-interface-info": ports}]}
    return "show_lldp_local-information_display_json", json.dumps(document)


def checked(run: Run, folder: Path, nos: str, *, crossed: bool, reported: bool) -> tuple[int, dict[str, Any]]:
    """Exit code and report where hosts 1 and 2 have swapped their places on rail 0, or not."""
    places = {host: [(rail, host) for rail in range(RAILS)] for host in range(1, HOSTS + 1)}
    if crossed:
        places[1][0], places[2][0] = places[2][0], places[1][0]
    plan = ["a_device,a_role,a_port,b_device,b_role,b_port,rail"]
    for rail in range(RAILS):
        plan += [f"gpu-{host},host,ens{rail}f0,leaf-{rail},leaf,{port(nos, host)},{rail}" for host in places]
    files = {"plan.csv": "\n".join(plan) + "\n"}
    files |= {f"capture/gpu-{host}/lldpctl_-f_json": heard(nos, places, host) for host in places}
    if reported:
        command, text = own(nos)
        files |= {f"capture/leaf-{rail}/{command}": text for rail in range(RAILS)}
    grow(folder, files)
    code, out, err = run("check", "--from", folder / "capture", "--plan", folder / "plan.csv", "--format", "json")
    assert out, err
    return code, json.loads(out)


@pytest.mark.parametrize("nos", IDS)
def test_ids_that_the_switch_explains_show_which_cables_are_crossed(nos: str, run: Run, tmp_path: Path) -> None:
    code, report = checked(run, tmp_path / "right", nos, crossed=False, reported=True)
    assert (code, report["causes"], report["summary"]["cables_right"]) == (0, [], HOSTS * RAILS)
    code, report = checked(run, tmp_path / "crossed", nos, crossed=True, reported=True)
    (cause,) = report["causes"]
    assert (code, cause["kind"]) == (1, "cable-swap")
    assert {(move["cable"], move["to"]) for move in cause["moves"]} == {
        (f"gpu-{host}/ens0f0", f"leaf-0/{port(nos, host)}") for host in (1, 2)
    }


@pytest.mark.parametrize("nos", IDS)
def test_without_them_a_port_is_unknown_and_no_cable_is_moved(nos: str, run: Run, tmp_path: Path) -> None:
    for crossed in (False, True):
        code, report = checked(run, tmp_path / str(crossed), nos, crossed=crossed, reported=False)
        assert (code, report["causes"], report["summary"]["cables_wrong"]) == (0, [], 0)
