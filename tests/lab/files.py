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

INIT = """\
#!/bin/sh
# Process 1 of a device. Its names are its own, and what it mounts no one else sees.
set -e
hostname "$(cat {home}/lab/hostname)"
mount --bind {home} /run
mount --bind /run/lab/root /root
mount --bind /run/lab/hosts /etc/hosts
mount --bind /run/lab/shadow /etc/shadow
for daemon in /run/lab/daemons/*; do
    "$daemon" </dev/null >>/run/lab/log 2>&1 &
done
: >/run/lab/started
while :; do sleep 86400 & wait; done
"""
LLDPD = """\
#!/bin/sh
# snmpd first: lldpd hands it LLDP-MIB through AgentX
tries=0
while [ -e /run/lab/daemons/snmpd ] && [ ! -S /run/agentx.sock ] && [ $tries -lt 200 ]; do
    sleep 0.05
    tries=$((tries + 1))
done
exec lldpd -d -O /run/lab/lldpd.conf {agentx}
"""
LLDPD_CONF = """\
configure lldp tx-interval 1
configure lldp tx-hold 4
configure system hostname {name}
configure system ip management pattern {address}
"""
LLDPD_CONF_SWITCH = """\
configure lldp portidsubtype ifname
configure system description "Cumulus Linux version 5.9.0 running on truerail lab"
"""
SNMPD = """\
#!/bin/sh
rm -f /run/agentx.sock
export SNMP_PERSISTENT_DIR=/run/snmp
exec snmpd -f -C -c /run/lab/snmpd.conf -Lf /run/lab/snmpd.log -I -smux
"""
SNMPD_CONF = """\
agentaddress udp:{address}:161
rocommunity {community}
createUser {user} SHA-256 "{auth}" AES "{privacy}"
rouser {user} priv
master agentx
agentXSocket /run/agentx.sock
agentXPerms 0660 0550
sysName {name}
sysLocation truerail lab
sysDescr Cumulus Linux version 5.9.0 running on truerail lab
"""
SSHD = """\
#!/bin/sh
exec /usr/sbin/sshd -D -f /run/lab/sshd_config -E /run/lab/sshd.log
"""
SSHD_CONF = """\
ListenAddress {address}
HostKey /run/lab/host_key
PidFile none
AuthorizedKeysFile /run/lab/authorized_keys
StrictModes no
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
UseDNS no
PrintMotd no
MaxStartups 100
LogLevel VERBOSE
SetEnv PATH={path}
"""


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
