"""What each device finds in its own /run: the daemons' settings and how they are started.

A folder of the machine is bound over the device's /run, so daemons keep their default paths. Settings are in /run/lab.
"""

import shutil
from pathlib import Path

from .layout import Layout
from .stand_ins import programs_of_host
from .system import run

COMMUNITY = "truerail-lab"
SNMP_USER, SNMP_AUTH, SNMP_PRIVACY = "truerail", "lab-authentication", "lab-privacy-phrase"
PATH = "/run/lab/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

_ETC = Path(__file__).parent / "etc"
INIT = (_ETC / "init.sh").read_text()
LLDPD = (_ETC / "lldpd.sh").read_text()
LLDPD_CONF = (_ETC / "lldpd.conf").read_text()
LLDPD_CONF_SWITCH = (_ETC / "lldpd_switch.conf").read_text()
SNMPD = (_ETC / "snmpd.sh").read_text()
SNMPD_CONF = (_ETC / "snmpd.conf").read_text()
SSHD = (_ETC / "sshd.sh").read_text()
SSHD_CONF = (_ETC / "sshd_config").read_text()


def equip(layout: Layout, device: str, public_key: str) -> None:
    """Writes all files of a device. The user's public key opens its sshd."""
    lab = layout.home(device) / "lab"
    for folder in ("lldpd", "sshd", "snmp", "lab/bin", "lab/daemons", "lab/root"):
        (layout.home(device) / folder).mkdir(parents=True)
    address, switch = layout.address(device), device in layout.switches
    _write(lab / "hosts", f"127.0.0.1 localhost\n{address} {device}\n")
    _write(lab / "hostname", f"{device}\n")
    _write(lab / "shadow", "root:*:19000:0:99999:7:::\nsshd:*:19000:0:99999:7:::\n", 0o600)
    _write(lab / "authorized_keys", public_key, 0o600)
    _write(lab / "sshd_config", SSHD_CONF.format(address=address, path=PATH))
    _write(lab / "daemons/sshd", SSHD, 0o755)
    lldpd_conf = LLDPD_CONF.format(name=device, address=address) + (LLDPD_CONF_SWITCH if switch else "")
    _write(lab / "lldpd.conf", lldpd_conf)
    _write(lab / "daemons/lldpd", LLDPD.format(agentx="-x -X /run/agentx.sock" if switch else ""), 0o755)
    _write(lab / "init", INIT.format(home=layout.home(device)), 0o755)
    make_host_key(layout, device)
    if switch:
        _write(lab / "daemons/snmpd", SNMPD, 0o755)
        _write(lab / "snmpd.conf", _snmpd_conf(layout, device), 0o600)
    else:
        _stand_ins(layout, device)


def make_host_key(layout: Layout, device: str) -> None:
    """Gives a device a new host key; its sshd uses it when it is started again."""
    path = layout.home(device) / "lab/host_key"
    path.unlink(missing_ok=True)
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", device, "-f", str(path), stdin="y\n")


def set_program(layout: Layout, device: str, name: str, script: str) -> None:
    """Puts a program before all others of its name on a device."""
    _write(layout.home(device) / "lab/bin" / name, script, 0o755)


def _stand_ins(layout: Layout, device: str) -> None:
    for name, script in programs_of_host(layout.fabric.models[device]).items():
        set_program(layout, device, name, script)


def restore_programs(layout: Layout, device: str) -> None:
    """Undoes `set_program`."""
    shutil.rmtree(layout.home(device) / "lab/bin")
    (layout.home(device) / "lab/bin").mkdir()
    if device not in layout.switches:
        _stand_ins(layout, device)


def _snmpd_conf(layout: Layout, device: str) -> str:
    return SNMPD_CONF.format(
        address=layout.address(device),
        community=COMMUNITY,
        user=SNMP_USER,
        auth=SNMP_AUTH,
        privacy=SNMP_PRIVACY,
        name=device,
    )


def _write(path: Path, text: str, mode: int = 0o644) -> None:
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
