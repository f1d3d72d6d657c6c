"""What other exporters say of simulated hosts: a real node_exporter over a made-up /sys, and pages in the words of
node_exporter's ethtool collector and of dcgm-exporter, which need hardware.
"""

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.loopback import Silent, threaded
from tests.patience import ENOUGH
from tests.ports import free_address
from truerail.analysis.published import Published
from truerail.model.plan import Role

COUNTERS = (
    "link_downed", "symbol_error", "port_xmit_data", "port_rcv_data", "port_xmit_wait", "port_rcv_errors",
    "port_xmit_packets", "port_rcv_packets", "link_error_recovery", "VL15_dropped", "local_link_integrity_errors",
    "port_xmit_discards", "excessive_buffer_overrun_errors", "port_rcv_constraint_errors",
    "port_rcv_remote_physical_errors", "port_rcv_switch_relay_errors", "port_xmit_constraint_errors",
)  # fmt: skip
"""Files of /sys/class/infiniband/DEVICE/ports/1/counters, as the kernel names them."""
PAGE = (
    'node_ethtool_received_prio3_pause{{device="{netdev}"}} {counted}\n'
    'DCGM_FI_DEV_POWER_USAGE{{gpu="{number}",UUID="GPU-{number}",device="nvidia{number}"}} 600\n'
    'DCGM_FI_DEV_GPU_UTIL{{gpu="{number}",UUID="GPU-{number}",device="nvidia{number}"}} 97\n'
    'DCGM_FI_DEV_XID_ERRORS{{gpu="{number}",UUID="GPU-{number}",device="nvidia{number}"}} 0\n'
)
DEVICES = 8


def make_sys(folder: Path) -> Path:
    """A /sys with RDMA devices mlx5_0 and on, each with one port that is up and has counted."""
    for number in range(DEVICES):
        device = folder / f"class/infiniband/mlx5_{number}"
        port = device / "ports/1"
        (port / "counters").mkdir(parents=True)
        for name, text in (("board_id", "MT_0000000838"), ("fw_ver", "28.39.1002"), ("hca_type", "MT4129")):
            (device / name).write_text(f"{text}\n")
        for name, text in (("state", "4: ACTIVE"), ("phys_state", "5: LinkUp"), ("rate", "400 Gb/sec (4X NDR)")):
            (port / name).write_text(f"{text}\n")
        for name in COUNTERS:
            (port / "counters" / name).write_text("1000\n")
    return folder


@contextmanager
def exporters(folder: Path) -> Iterator[Callable[[Published], list[dict[str, Any]]]]:
    """Both, running; gives what makes Prometheus' targets for the hosts of a publication, labelled as `/sd` does."""
    address = free_address()
    command = ["prometheus-node-exporter", f"--path.sysfs={make_sys(folder / 'sys')}", "--collector.disable-defaults"]
    options = ["--collector.infiniband", "--web.disable-exporter-metrics", f"--web.listen-address={address}"]
    with open(folder / "node.log", "wb") as log:
        process = subprocess.Popen([*command, *options], stdout=log, stderr=log)

    def targets(publication: Published) -> list[dict[str, Any]]:
        made_up.netdevs = sorted({cable.a.name for cable in publication.plan.host_cables})  # type: ignore[attr-defined]  # for its pages
        return list(_targets(publication, (address, f"127.0.0.1:{made_up.server_port}")))

    with threaded(ThreadingHTTPServer(("127.0.0.1", 0), _Pages)) as made_up:
        try:
            yield targets
        finally:
            process.terminate()
            process.wait(ENOUGH)


def _targets(publication: Published, addresses: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    for device in publication.plan.of_role(Role.HOST):
        for address in addresses:
            labels = {"fabric": publication.fabric, "host": device.name, "instance": f"{device.name}/{address}"}
            yield {"targets": [address], "labels": {**labels, "pod": device.pod}}


class _Pages(Silent):
    def do_GET(self) -> None:
        counted = int(time.monotonic() * 10)
        names: list[str] = getattr(self.server, "netdevs", [])
        reported = (PAGE.format(netdev=name, number=n, counted=counted) for n, name in enumerate(names))
        self.say("".join(reported).encode(), "text/plain; version=0.0.4")
