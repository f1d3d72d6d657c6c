"""OpenSSH client configurations, compared with what the real ssh makes of them."""

import subprocess
from pathlib import Path

import pytest

from tests.real import require
from truerail.inventory import InventoryError, load_inventory
from truerail.model import Role

CONFIG = (Path(__file__).parent / "inventories" / "ssh_config").read_text()
INCLUDED = "Host spine-[0-9]\nHost spine-1\n  Port 2022\n"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    (tmp_path / "more.d").mkdir()
    (tmp_path / "more.d" / "spines.conf").write_text(INCLUDED)
    path = tmp_path / "config"
    path.write_text(CONFIG)
    return path


def test_concrete_hosts_are_read_and_the_rest_is_noted(config: Path) -> None:
    inventory = load_inventory(config)
    found = {target.name: target for target in inventory.targets}
    assert list(found) == ["spine-1", "gpu-1", "gpu-2", "leaf-2", "leaf-spine-3"]
    one, two = found["gpu-1"], found["gpu-2"]
    assert (one.address, one.role, one.ssh.user, one.ssh.port) == ("10.0.0.1", Role.HOST, "ops", 2200)
    assert one.ssh.jump == ("jumper@192.0.2.1:2222",), "the hop's own entry is followed"
    assert (two.address, two.ssh.key, two.ssh.known_hosts) == (
        "gpu-2.dc.example",
        "~/.ssh/gpu-2",
        "~/.ssh/fabric_hosts",
    )
    assert found["leaf-spine-3"].role is None, "the name speaks of two roles"
    assert (found["spine-1"].file, found["spine-1"].line) == (str(config.parent / "more.d" / "spines.conf"), 2)
    notes = "\n".join(inventory.notes)
    for said in (
        "a Match block is not read",
        "bastion: left out",
        "Host spine-[0-9], gpu-*",
        "leaf-spine-3: ProxyCommand",
        "Strict",
    ):
        assert said in notes


def test_named_devices_get_what_patterns_say(config: Path) -> None:
    seven, nine = load_inventory(config, ["gpu-7", "gpu-9"]).targets
    assert (seven.ssh.user, seven.ssh.jump) == ("ops", ("jumper@192.0.2.1:2222",))
    assert (nine.ssh.user, nine.ssh.jump) == ("everyone", ())


@pytest.mark.parametrize("name", ["gpu-1", "gpu-2", "gpu-7", "gpu-9", "leaf-2", "bastion"])
def test_the_real_ssh_reads_the_same(config: Path, name: str) -> None:
    require("ssh")
    # ssh looks for relative includes in ~/.ssh, whatever file it is given
    config.write_text(config.read_text().replace("more.d", str(config.parent / "more.d")))
    done = subprocess.run(["ssh", "-G", "-F", config, name], capture_output=True, text=True, check=True)
    real: dict[str, str] = {}
    for line in done.stdout.splitlines():
        key, _, value = line.partition(" ")
        real.setdefault(key, value)
    (target,) = load_inventory(config, [name]).targets
    assert (target.address, target.ssh.user, str(target.ssh.port)) == (real["hostname"], real["user"], real["port"])
    assert target.ssh.key.replace("gpu-2", "%n").replace("leaf-2", "%n") == real["identityfile"]
    assert str(Path(target.ssh.known_hosts).expanduser()) in real["userknownhostsfile"].replace("~", str(Path.home()))
    assert bool(target.ssh.jump) == ("proxyjump" in real)


def test_hops_are_followed_to_the_first(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text(
        "Host a\n ProxyJump b,c:99\nHost b\n ProxyJump d\n HostName 10.0.0.2\nHost d\n HostName fd00::4\n User x\n"
    )
    (target,) = load_inventory(path).targets[:1]
    assert target.ssh.jump == ("x@[fd00::4]", "10.0.0.2", "c:99")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Host a\n ProxyJump b\nHost b\n ProxyJump a\n",
            "config:1: jumps through more than 8 hosts, or through itself (value 'a')",
        ),
        ("Include config\nHost a\n", "config: files include each other more than 16 deep"),
    ],
)
def test_circles_are_refused(tmp_path: Path, text: str, expected: str) -> None:
    path = tmp_path / "config"
    path.write_text(text)
    with pytest.raises(InventoryError) as caught:
        load_inventory(path, ["a"] if "Jump" in text else ())
    assert expected in str(caught.value).replace(str(path), "config").splitlines()
