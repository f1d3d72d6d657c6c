"""An answer to another question is refused with that question's name, and never taken for one with nothing to say.

Every recording, and every file of the corpus where there is one, is offered to collectors. What is empty says so
itself; what is refused is named by `truerail parse`.
"""

from pathlib import Path

from typer.testing import CliRunner

from collector import collectors
from collector._questions import command_of
from tests.draws import draws
from tests.each import each
from tests.test_recordings import EXCERPTS
from truerail.cli.app import app
from truerail.errors import CommandError, UnreadableError
from truerail.model import Collector, Device, Role

RECORDINGS = Path(__file__).parent / "recordings"
CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus"
READERS = sorted(collectors().items())
WHOLE = sorted(path for path in RECORDINGS.glob("*/*/answer.txt") if not path.parent.name.startswith(EXCERPTS))
FILES = [*WHOLE, *sorted(CORPUS.glob("*/*.*"))]

SAY_THAT_THERE_IS_NOTHING = (
    "LLDP neighbors:",  # lldpd's list, its title alone
    '"lldp"',
    "lldpNeighborInfo",
    "lldp-neighbors-information",
    "1.0.8802.1.1.2",  # rows of LLDP-MIB, none of a neighbour
    "Total Neighbor Entries          : 0",
    "Total entries displayed:  0",
    "ERROR: No neighbour information",
    "GPU0",  # a matrix without NICs
    "STORM DETECTED/RESTORED",  # the watchdog's table without a row
    '"openconfig-lldp:lldp"',
    "Neighbor Chassis ID |",  # SR Linux' labels without a row
    "has 0 neighbor(s)",
    "Total number of entries 0",
    '"state":"permanent"',  # a bridge's own addresses alone
    "vrf-router-id",  # sessions by address, none by port
    "State/PfxRcd",  # the same as text
    "NODELIST(REASON)",  # squeue's header without a job
    "NIC statistics:",  # ports whose driver counts no pauses
    '"items": null',  # no pods
    '"items": []',  # no pods, no nodes
    '"jobs": []',
    '"nodes": []',
    "gpu_uuid, pid",  # no process on a GPU
    '"result":[]',  # Prometheus has no sample
    '"num-of-vpcs": "0"',
)
"""What an answer has that is understood and empty."""
LOOPBACK_ALONE = RECORDINGS / "net_link/text_of_loopback_alone/answer.txt"


def answer_of(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


def test_no_answer_to_another_question_is_one_of_nothing() -> None:
    """Each file is read once, and offered to a twelfth of all collectors, its neighbour to the next; in `make soak`
    to all.
    """
    asked = [(name, one, Device("any", Role.HOST if Role.HOST in one.on else one.on[0])) for name, one in READERS]
    shares = draws(12, 1)
    taken = [
        (name, str(path))
        for number, path in enumerate(FILES)
        for answer in [answer_of(path)]
        for name, one, device in asked[number % shares :: shares]
        if read_as_nothing(one, answer, device)
        and not says_that_there_is_nothing(answer)
        and not (path == LOOPBACK_ALONE and name in ("net_link", "net_address"))
        and not (name == "nccl_log" and "NCCL INFO " in answer)  # a job without a network
    ]
    assert taken == []


def says_that_there_is_nothing(answer: str) -> bool:
    lower = answer.lower()
    return answer.strip() in ("", "[]") or any(sign.lower() in lower for sign in SAY_THAT_THERE_IS_NOTHING)


def read_as_nothing(one: Collector, answer: str, device: Device) -> bool:
    try:
        return not one.read(answer, device)
    except UnreadableError:
        return False


NAMED = {
    "gpu_nic_topology/peers": ("gpu_nic_topology", "nvidia-smi topo -p2p"),
    "queue_counters/sonic-trim": ("queue_counters", "show queue counters --trim"),
    "port_counters/eos-counters-json": ("port_state", "show interfaces counters"),
    "port_errors/nxos-text": ("port_state", "show interface counters errors"),
    "port_state/sonic-transceivers": ("port_state", "show interfaces transceiver eeprom"),
    "port_state/os10-status": ("lldp_switch", "show interface status"),
    "lldp_switch/eos-detail-text": ("lldp_host", "show lldp neighbors detail"),
    "rdma_link/json": ("net_link", "rdma link"),
    "lldp_local/nxos_all": ("lldp_switch", "show lldp all"),
    "lldp_local/eos_text": ("lldp_switch", "show lldp local-info"),
    "lldp_local/junos_text": ("lldp_switch", "show lldp local-information"),
    "lldp_switch/srlinux-table": ("lldp_local", "show system lldp neighbor"),
    "lldp_switch/openconfig-json": ("port_state", "openconfig-lldp"),
    "lldp_switch/vrp-detail-text": ("port_state", "display lldp neighbor"),
    "port_state/vrp-brief": ("lldp_switch", "display interface brief"),
    "pfc_watchdog/two-runs": ("queue_counters", "show pfcwd stats"),
    "nic_counters/ionic": ("optics", "ethtool -S"),
    "port_counters/sonic-table": ("pfc_counters", "show interfaces counters"),
    "if_snmp/walk-both-tables": ("lldp_switch", "snmpwalk"),
}


@each("case", NAMED)
def test_a_refusal_names_the_question_that_was_answered(case: str) -> None:
    name, command = NAMED[case]
    found = CliRunner().invoke(app, ["parse", name, str(RECORDINGS / case / "answer.txt")])
    assert isinstance(found.exception, CommandError)
    assert f"the answer of `{command}`" in str(found.exception)


BY_HAND = {
    ("scontrol show job", "slurm_jobs"),
    ("scontrol show node", "slurm_nodes"),
    ("scontrol show topology", "slurm_topology"),
}
"""Forms of an answer that a collector reads, and does not ask for in these words."""


def test_each_sign_is_that_of_one_question() -> None:
    """No recording that a collector reads is taken for the answer of a command that this collector does not ask, unless
    both are answered by one document."""
    shared = {"port_state", "link_speed", "port_qos", "port_counters", "port_errors", "pfc_counters", "queue_counters"}
    for path in sorted(RECORDINGS.glob("*/*/facts.json")):
        name = path.parent.parent.name
        command = command_of(answer_of(path.parent / "answer.txt"))
        own = command is None or any(command in asked.text for asked in collectors()[name].ask)
        assert own or name in shared or "snmp" in name or (command, name) in BY_HAND, (path, command)
