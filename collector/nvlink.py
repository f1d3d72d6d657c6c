"""The NVLinks of a host's GPUs: `nvidia-smi nvlink -s`.

Question: which NVLinks of which GPU are active?
Needs: NVIDIA's driver, any user.

Format: a line for each GPU, `GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-...)`, then one for each of its links: `Link 0:
26.562 GB/s`, or `Link 0: <inactive>`. Source: NVIDIA's documentation of nvidia-smi, and of NVML
(`nvmlDeviceGetNvLinkState`).

Traps:

- A GPU without NVLink has no lines below its own, and no fact. The last line counts only if a line feed ends it.
- `nvidia-smi nvlink -e` lists errors of the links in lines of the same shape: refused, as is a state of another form.
- Some lines are errors (`NVML: Unable to retrieve NVLink information as all links are inActive`): then all links of
  that GPU are inactive, and how many it has is not shown.
"""

import re
from collections.abc import Iterator

from collector.formats.text import lines
from truerail.errors import NoAnswerError, UnreadableError
from truerail.model import Command, Device, NvLink, Role, collector, minutes, saved_as

_GPU = re.compile(r"GPU (\d{1,3}): .*\(UUID: .+\)")
_OF_LINK = re.compile(r"Link \d+:")
_LINK = re.compile(r"Link (\d{1,3}): (?:(\d+(?:\.\d+)?) GB/s|<inactive>)", re.IGNORECASE)


ASK = (Command("nvidia-smi nvlink -s"), *saved_as("nvidia-smi nvlink --status"))


@collector(on=[Role.HOST], ask=ASK, every=minutes(5), yields=[NvLink], optional=True)
def nvlink(answer: str, device: Device) -> list[NvLink]:
    """One `NvLink` for each link, in the answer's order. Raises `UnreadableError`."""
    text = [line.strip() for line in lines(answer)[:-1]]
    if not any(map(_GPU.fullmatch, text)):
        raise UnreadableError("not a list of NVLinks", line=1, text=answer.strip().split("\n")[0][:80])
    found = list(_links(text))
    if not found:
        raise NoAnswerError("no GPU has NVLinks", line=1, text=text[0])
    return found


def _links(text: list[str]) -> Iterator[NvLink]:
    gpu = None
    seen: set[int] = set()
    for number, line in enumerate(text, 1):
        if named := _GPU.fullmatch(line):
            gpu = int(named[1])
            if gpu in seen:
                raise UnreadableError("a GPU twice: answers of two hosts, or of two times", line=number, text=line)
            seen.add(gpu)
        elif gpu is not None and (link := _LINK.fullmatch(line)):
            rate = float(link[2]) if link[2] else None
            yield NvLink(gpu, int(link[1]), rate is not None, rate)
        elif _OF_LINK.match(line):
            raise UnreadableError("not the state of an NVLink", line=number, text=line)
