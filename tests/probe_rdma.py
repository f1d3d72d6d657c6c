"""Hosts that look as if they had RDMA: files of sysfs, and stand-ins for `rdma`, `rping` and `ib_write_bw`."""

from collections.abc import Mapping
from pathlib import Path

from tests.sshd import Sshd

FASTER = {
    'SYSFS = "/sys/class/infiniband"': 'SYSFS = "{folder}/infiniband"',
    'SAFE_PATH = "/usr/sbin:': 'SAFE_PATH = "{folder}/tools:/usr/sbin:',
    "RPING_AT, WRITE_AT, CLIENT_AFTER = 1.1, 5.1, 0.8": "RPING_AT, WRITE_AT, CLIENT_AFTER = 1.1, 2.1, 0.2",
    "RPING_SECONDS, WRITE_SECONDS = 4.0, 12.0": "RPING_SECONDS, WRITE_SECONDS = 1.4, 12.0",
}
WRITE_BW = """\
#!/bin/sh
speed=97.2
[ "$2" = mlx5_h2_0 ] && speed=48.6
echo " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]"
echo " 1048576      28084           0.00               $speed                0.011"
"""


def rdma_hosts(servers: Mapping[str, Sshd], folder: Path) -> None:
    """Ports, counters and programs as hosts with RDMA have them; h2's first NIC is slow, h3's answers late."""
    for host, server in servers.items():
        for rail in (0, 1):
            port = folder / "infiniband" / f"mlx5_{host}_{rail}" / "ports" / "1"
            for name, text in {
                "gids/3": f"0000:0000:0000:0000:0000:ffff:0a{rail:02x}:{int(host[1:]):02x}02",
                "gid_attrs/types/3": "RoCE v2",
                "gid_attrs/ndevs/3": f"eth{rail}",
                "counters/port_xmit_data": "1000",
                "counters/port_rcv_data": "1000",
            }.items():
                (port / name).parent.mkdir(parents=True, exist_ok=True)
                (port / name).write_text(f"{text}\n")
        qp = "link mlx5_0/1 lqpn 1 type GSI state RTS sq-psn 0 comm [ib_core]"
        server.program("rdma", f'[ "$1" = link ] || echo "{qp}"')
    (folder / "tools").mkdir()
    for name, text in (("ib_write_bw", WRITE_BW), ("rping", "#!/bin/sh\n")):
        (folder / "tools" / name).write_text(text)
        (folder / "tools" / name).chmod(0o755)


def faster(script: bytes, folder: Path) -> bytes:
    """The script of heavy tests with these files and programs, and without the time that real ones need."""
    text = script.decode()
    for old, new in FASTER.items():
        assert old in text
        text = text.replace(old, new.format(folder=folder))
    return text.encode()
