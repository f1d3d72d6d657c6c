"""Small captures for tests: answers in the real formats, written as folders or packed into archives."""

import io
import json
import tarfile
from collections.abc import Mapping
from pathlib import Path

RDMA = "link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev eth0 \n"
LINKS = json.dumps(
    [{"ifname": "eth0", "address": "02:00:00:00:00:01", "mtu": 9000, "operstate": "UP", "flags": ["UP"]}]
)

TABLE = """\
LocalPort    RemoteDevice    RemotePortID    Capability    RemotePortDescr
-----------  --------------  --------------  ------------  -----------------
Ethernet0    gpu-1           eth0            BR            eth0
--------------------------------------------------
Total entries displayed:  1
"""
"""One neighbour as SONiC's `show lldp table` prints it."""


def lldp(port: str, switch: str, switch_port: str) -> str:
    """One neighbour as `lldpctl -f json0` prints it."""
    neighbor = {
        "name": port,
        "via": "LLDP",
        "rid": "1",
        "age": "0 day, 00:00:01",
        "chassis": [{"id": [{"type": "mac", "value": "02:00:00:00:00:05"}], "name": [{"value": switch}]}],
        "port": [{"id": [{"type": "ifname", "value": switch_port}], "ttl": [{"value": "120"}]}],
    }
    return json.dumps({"lldp": [{"interface": [neighbor]}]})


def grow(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Writes files, named by their path under `root`, and returns `root`."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def pack(path: Path, files: Mapping[str, str | bytes], *odd: tarfile.TarInfo, mode: str = "w:gz") -> Path:
    """An archive of files and of odd members without content, in this order."""
    with tarfile.open(path, mode) as tar:  # type: ignore[call-overload]
        for name, content in files.items():
            data = content if isinstance(content, bytes) else content.encode()
            tar.addfile(member(name, size=len(data)), io.BytesIO(data))
        for info in odd:
            tar.addfile(info)
    return path


def member(name: str, **fields: object) -> tarfile.TarInfo:
    """The header of an archive's member."""
    info = tarfile.TarInfo(name)
    info.mtime = 1_700_000_000
    for field, value in fields.items():
        setattr(info, field, value)
    return info
