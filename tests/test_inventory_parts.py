"""What all inventories share: roles from names, words that are refused, and what is imported only when asked for."""

import subprocess
import sys

import pytest

from truerail.inventory.inventory_checks import address_fault, device_name_fault, hop_fault, role_in, user_fault
from truerail.model import Role


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("hosts", Role.HOST),
        ("gpu_nodes", Role.HOST),
        ("compute", Role.HOST),
        ("dgx-h100-012", Role.HOST),
        ("leaf", Role.LEAF),
        ("pod1-leaves", Role.LEAF),
        ("ToR-switch", Role.LEAF),
        ("spines", Role.SPINE),
        ("superspine", Role.SUPERSPINE),
        ("super-spine-3", Role.SUPERSPINE),
        ("gpu-leaf-1", None),
        ("storage", None),
        ("toronto", None),
        ("", None),
    ],
)
def test_a_role_is_read_off_a_name_only_where_it_names_one(name: str, role: Role | None) -> None:
    assert role_in(name) is role


@pytest.mark.parametrize(
    "name", ["", "a/b", "a\\b", ".", "..", "-a", "a b", "a\n", "a[1]", "a,b", "a@b", "x" * 256, "a\x1b"]
)
def test_a_device_name_that_is_refused(name: str) -> None:
    assert device_name_fault(name)


@pytest.mark.parametrize("address", ["10.0.0.1", "fd00::1", "gpu-1.dc.example", "fe80::1%eth0", "h_1"])
def test_an_address(address: str) -> None:
    assert address_fault(address) == ""


@pytest.mark.parametrize("address", ["", "10.0.0.256", "10.0.0", "fd00:::1", "-oX=y", "a b", "a;b", "$(x)", "a" * 254])
def test_no_address(address: str) -> None:
    assert address_fault(address)


@pytest.mark.parametrize(
    ("hop", "right"),
    [
        ("bastion", True),
        ("ops@bastion:22", True),
        ("ops@[fd00::1]:22", True),
        ("ops:secret@bastion", False),
        ("-oX@bastion", False),
        ("bastion:0", False),
        ("bastion:70000", False),
        ("", False),
    ],
)
def test_a_jump_host(hop: str, right: bool) -> None:
    assert (hop_fault(hop) == "") is right


def test_a_user_is_no_option_and_holds_no_password() -> None:
    assert user_fault("truerail") == ""
    assert all(map(user_fault, ("-l", "a:b", "a@b", "a b", "", "a\nb")))


def test_pynetbox_is_imported_only_when_netbox_is_asked() -> None:
    code = "import sys, truerail.inventory; print([m for m in ('pynetbox', 'requests', 'pandas') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
