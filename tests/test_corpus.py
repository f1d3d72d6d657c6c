"""Every recorded answer of a corpus beside the project is read as `tests/corpus/<collector>/<folder>/` says.

`<file>.facts.json` is what `truerail parse` prints of the corpus' `<folder>/<file>`, `<file>.error.txt` why it is
refused. The answers themselves are not part of the project: where they are absent these tests are skipped. Devices,
ports and names of neighbours, matrices and RDMA links were checked against the answers without the readers: JSON and
walks by a second extraction, texts by eye. Where the corpus' index names a Junos port by its SNMP index (519), the
facts have the interface that the same answer names (xe-0/0/0).
"""

from pathlib import Path

import pytest

from collector import collectors
from tests.each import each
from tests.test_recordings import REFRESH, outcome
from truerail.errors import UnreadableError
from truerail.model import Device, Role

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus"
EXPECTED = Path(__file__).parent / "corpus"
CASES = sorted(path.relative_to(EXPECTED).parts for path in EXPECTED.glob("*/*/*"))
"""Collector, folder of the corpus, and the file that says the outcome of reading one of its answers."""
READS = {
    "gpu_nic_topology": "topo",
    "rdma_link": "rdma",
    "lldp_host": "lldp_host",
    "lldp_switch": "switch_lldp",
    "lldp_snmp": "snmp",
    "if_snmp": "snmp",
}
"""The folder of which a collector's outcome is known for each file."""
OTHER = {"lldp_switch": "lldp_snmp", "lldp_snmp": "lldp_switch"}

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason=f"no corpus of recorded answers at {CORPUS}")


def answered(file: str) -> str:
    """The name of the answer of which a file says the outcome."""
    return file.removesuffix(".facts.json").removesuffix(".error.txt")


@each("name, folder, file", CASES)
def test_is_read_as_its_file_says(name: str, folder: str, file: str) -> None:
    asked = collectors()[name]
    device = Device("any", Role.HOST if Role.HOST in asked.on else asked.on[0])
    kind, content = outcome(name, CORPUS / folder / answered(file), device)
    said = EXPECTED / name / folder / file
    if REFRESH:
        said.unlink()
        said.with_name(f"{answered(file)}.{kind}").write_text(content)
    assert (file, said.read_text()) == (f"{answered(file)}.{kind}", content)


@each("name, folder, file", [case for case in CASES if case[0] in OTHER])
def test_answers_of_another_kind_are_refused(name: str, folder: str, file: str) -> None:
    with pytest.raises(UnreadableError):
        collectors()[OTHER[name]].read((CORPUS / folder / answered(file)).read_bytes().decode(), Device("leaf-0"))


@each("name", READS)
def test_no_file_of_the_corpus_is_left_out(name: str) -> None:
    known = {answered(file) for reader, folder, file in CASES if (reader, folder) == (name, READS[name])}
    assert known == {path.name for path in (CORPUS / READS[name]).iterdir()}
