"""OpenSSH client configurations, compared with what the real ssh makes of them."""

import subprocess
from pathlib import Path

import pytest

from tests.real import require
from truerail.inventory import InventoryError, load_inventory

CONFIG = (Path(__file__).parent / "inventories" / "ssh_config").read_text()
INCLUDED = (Path(__file__).parent / "inventories" / "more.d" / "spines.conf").read_text()


@pytest.fixture
def config(tmp_path: Path) -> Path:
    (tmp_path / "more.d").mkdir()
    (tmp_path / "more.d" / "spines.conf").write_text(INCLUDED)
    path = tmp_path / "config"
    path.write_text(CONFIG)
    return path


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
