"""Programs that no machine without GPUs and RDMA has: `nvidia-smi` and `rdma`, printing what the project renders.

The matrix is the one of a right host of the model. The state of an RDMA port follows the carrier of its netdev.
"""

import shlex

from truerail.simulator.fabric.servers import Model
from truerail.simulator.platforms.linux.host import rdma_link
from truerail.simulator.platforms.linux.topo import topo

_NVIDIA_SMI = """\
#!/bin/sh
if [ "$*" != "topo -m" ]; then
    echo "nvidia-smi: of all its questions, the lab's nvidia-smi answers only: topo -m" >&2
    exit 2
fi
cat <<'END'
{matrix}END
"""
_RDMA = """\
#!/bin/sh
if [ "$*" != "link" ]; then
    echo "rdma: of all its questions, the lab's rdma answers only: link" >&2
    exit 2
fi
tell() {{
    if [ "$(cat "/sys/class/net/$1/carrier" 2>/dev/null)" = 1 ]; then echo "$2"; else echo "$3"; fi
}}
{ports}
"""


def programs_of_host(model: Model) -> dict[str, str]:
    """Name to script."""
    matrix = topo(model, tuple(range(model.rails)), tuple(range(model.gpus)))
    ports = "\n".join(_tell(nic.rdma, nic.netdev) for nic in model.names)
    return {"nvidia-smi": _NVIDIA_SMI.format(matrix=matrix), "rdma": _RDMA.format(ports=ports)}


def _tell(rdma: str, netdev: str) -> str:
    up, down = (rdma_link([(rdma, state, netdev)]).removesuffix("\n") for state in (True, False))
    return shlex.join(["tell", netdev, up, down])
