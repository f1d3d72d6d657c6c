"""The processes that compute on a host's GPUs: `nvidia-smi --query-compute-apps`.

Question: does the host carry a job, so that nothing may be sent from it?
Needs: NVIDIA's driver, any user; inside a container the processes of others may be hidden.

Format: comma-separated values with a header, `gpu_uuid, pid`, then a line for each process on each GPU. Source:
NVIDIA's manual of nvidia-smi, "--query-compute-apps" and "--format=csv", and `--help-query-compute-apps`.

Traps:

- The header alone is an answer: no process computes. It is no evidence that the NICs are idle.
- What the driver does not tell is in brackets, `[N/A]` or `[Insufficient Permissions]`: the process still counts.
- The last line counts only if a line feed ends it.
- Names of processes are not asked for: they are their users' own.
"""

from collector.formats.text import lines
from truerail.errors import UnreadableError
from truerail.model import Command, Device, GpuProcess, Role, collector, minutes

_HEADER = ["gpu_uuid", "pid"]


ASK = (Command("nvidia-smi --query-compute-apps=gpu_uuid,pid --format=csv"),)


@collector(on=[Role.HOST], ask=ASK, every=minutes(1), yields=[GpuProcess], optional=True)
def gpu_processes(answer: str, device: Device) -> list[GpuProcess]:
    """One `GpuProcess` for each process on each GPU, none for an idle host. Raises `UnreadableError`."""
    rows = [[cell.strip() for cell in line.split(",")] for line in lines(answer)[:-1]]
    if not rows or rows[0] != _HEADER:
        raise UnreadableError("not a list of GPU processes", line=1, text=answer.strip().split("\n")[0][:80])
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(_HEADER) or not (row[0].startswith(("GPU-", "MIG-")) and _known_or_hidden(row[1])):
            raise UnreadableError("neither a GPU and its process, nor the end", line=number, text=", ".join(row)[:80])
    return [GpuProcess(gpu, int(pid) if pid.isdecimal() else None) for gpu, pid in rows[1:]]


def _known_or_hidden(pid: str) -> bool:
    return (pid.isdecimal() and len(pid) <= 10) or (pid.startswith("[") and pid.endswith("]"))
