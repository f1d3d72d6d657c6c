"""Captures that are broken, hostile or not what they say: a clear message each, and the rest is still read."""

import os
import tarfile
from pathlib import Path

import pytest

from tests.capture_trees import LINKS, RDMA, grow, lldp, member, pack
from truerail.errors import CaptureError, FileRefusedError
from truerail.model import Device, Neighbor, Role
from truerail.transport import archive
from truerail.transport.folders import MAX_ANSWER_BYTES, DiskFolder
from truerail.transport.replay import Capture, read_capture

PLAN = {name: Device(name) for name in ("gpu-1", "gpu-2")} | {"leaf-0": Device("leaf-0", Role.LEAF)}
GOOD = {"gpu-2/rdma_link": RDMA}
TOO_LARGE = "more than the 64 MiB that an answer may have"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A capture of which one host is in order."""
    return grow(tmp_path / "capture", GOOD)


def errors(capture: Capture) -> dict[str, str]:
    """What could not be read, by device and collector."""
    return {f"{reading.device} {reading.collector}": reading.error for reading in capture.readings if reading.error}


def rest_is_read(capture: Capture) -> bool:
    """Whether the host that is in order was read."""
    return any(r.device == "gpu-2" and r.collector == "rdma_link" and len(r.facts) == 1 for r in capture.readings)


def test_no_such_folder(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="nowhere: no such folder or archive"):
        read_capture(tmp_path / "nowhere")


def test_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="has no folder of a device"):
        read_capture(tmp_path)


def test_neither_folder_nor_archive(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(CaptureError, match="pipe: neither a folder nor an archive"):
        read_capture(tmp_path / "pipe")


@pytest.mark.parametrize(
    "content", [b"", b"rails: 8\n", b"\x1f\x8bnot gzip after all", b"\xfd7zXZ\x00broken", b"BZh9 no"]
)
def test_a_file_that_is_no_archive(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "plan.yaml").write_bytes(content)
    with pytest.raises(CaptureError, match=r"plan\.yaml: not a readable tar archive|holds no folder"):
        read_capture(tmp_path / "plan.yaml")


def test_unreadable_file(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grow(tree, {"gpu-1/rdma_link": RDMA, "gpu-1/ip_-j_link": LINKS})
    denied = str(tree / "gpu-1" / "rdma_link")
    open_file = os.open

    def refuse(path: str, flags: int) -> int:
        if path == denied:
            raise PermissionError(13, "Permission denied", path)
        return open_file(path, flags)

    if os.geteuid() == 0:  # root reads what it likes: the kernel's answer is played
        monkeypatch.setattr(os, "open", refuse)
    else:
        Path(denied).chmod(0)
    capture = read_capture(tree, devices=PLAN)
    assert errors(capture) == {"gpu-1 rdma_link": "gpu-1/rdma_link: Permission denied"}
    assert rest_is_read(capture)
    assert [r.collector for r in capture.readings if r.device == "gpu-1" and not r.error] == ["net_link"]


def test_unreadable_folder(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grow(tree, {"gpu-1/rdma_link": RDMA})
    listing = DiskFolder.list

    def refuse(self: DiskFolder) -> object:
        if self._path.endswith("gpu-1"):
            raise FileRefusedError("Permission denied")
        return listing(self)

    monkeypatch.setattr(DiskFolder, "list", refuse)
    capture = read_capture(tree, devices=PLAN)
    assert errors(capture)["gpu-1 lldp_host"] == "gpu-1: Permission denied"
    assert capture.notes == ("folders not read, Permission denied: 1 (gpu-1)",)
    assert rest_is_read(capture)


def test_a_folder_that_cannot_be_listed_names_the_reason(tmp_path: Path) -> None:
    with pytest.raises(FileRefusedError, match="No such file or directory"):
        DiskFolder(str(tmp_path / "gone")).list()
    assert DiskFolder(str(tmp_path / "gone")).modified() == 0.0


def test_links_that_leave_the_capture_are_not_followed(tree: Path) -> None:
    (tree / "gpu-1").mkdir()
    (tree / "gpu-1" / "rdma_link").symlink_to("/etc/passwd")
    (tree / "gpu-1" / "ip_-j_link").symlink_to("../../capture-of-others")
    grow(tree.parent / "capture-of-others", {"rdma_link": RDMA})
    (tree / "gpu-3").symlink_to("/etc")
    capture = read_capture(tree, devices=PLAN)
    assert errors(capture) == {
        "gpu-1 rdma_link": "gpu-1/rdma_link: a symbolic link that leaves the capture",
        "gpu-1 net_link": "gpu-1/ip_-j_link: a symbolic link that leaves the capture",
    }
    assert capture.notes == ("refused, a symbolic link that leaves the capture: 1 (gpu-3)",)
    assert rest_is_read(capture)


def test_links_inside_the_capture_are_followed(tree: Path) -> None:
    (tree / "gpu-1").symlink_to("gpu-2")
    (tree / "gpu-2" / "ip_-j_link").symlink_to("links.json")
    grow(tree, {"gpu-2/links.json": LINKS})
    capture = read_capture(tree, devices=PLAN)
    assert errors(capture) == {}
    assert [(r.device, r.collector) for r in capture.readings] == [
        (device, name) for device in ("gpu-1", "gpu-2") for name in ("net_link", "rdma_link")
    ]


def test_a_link_that_is_put_in_after_the_listing_is_not_followed_out(tree: Path) -> None:
    folder = DiskFolder(str(tree)).enter("gpu-2")
    (tree / "gpu-2" / "rdma_link").unlink()
    (tree / "gpu-2" / "rdma_link").symlink_to("/etc/passwd")
    with pytest.raises(FileRefusedError, match="a symbolic link that leaves the capture"):
        folder.read("rdma_link")


def test_special_files_dead_links_and_folders_in_the_place_of_answers(tree: Path) -> None:
    (tree / "gpu-1" / "ip_-j_link").mkdir(parents=True)
    os.mkfifo(tree / "gpu-1" / "rdma_link")
    (tree / "gpu-1" / "lldpctl_-f_json").symlink_to("gone")
    capture = read_capture(tree, devices=PLAN)
    assert errors(capture) == {
        "gpu-1 lldp_host": "gpu-1/lldpctl_-f_json: a symbolic link to nothing that can be read",
        "gpu-1 net_link": "gpu-1/ip_-j_link: a folder where a file is expected",
        "gpu-1 rdma_link": "gpu-1/rdma_link: neither a file nor a folder",
    }
    assert rest_is_read(capture)


def test_a_pipe_that_is_put_in_after_the_listing_does_not_block(tree: Path) -> None:
    (tree / "gpu-2" / "rdma_link").unlink()
    os.mkfifo(tree / "gpu-2" / "rdma_link")
    assert DiskFolder(str(tree)).enter("gpu-2").read("rdma_link") == b""


def test_a_file_of_ten_gigabytes_is_refused_unread(tree: Path) -> None:
    grow(tree, {"gpu-1/rdma_link": RDMA})
    os.truncate(tree / "gpu-1" / "rdma_link", 10 * 1024**3)
    capture = read_capture(tree, devices=PLAN)
    assert errors(capture) == {"gpu-1 rdma_link": f"gpu-1/rdma_link: 10,737,418,240 bytes, {TOO_LARGE}"}
    assert rest_is_read(capture)


def test_a_file_that_grows_while_it_is_read_is_bounded(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grow(tree, {"gpu-1/rdma_link": b"\n" * 300_000})
    read = os.read
    monkeypatch.setattr(os, "read", lambda handle, size: read(handle, size) or b" " * size)
    capture = read_capture(tree, devices=PLAN, only=["gpu-1"])
    assert errors(capture) == {"gpu-1 rdma_link": f"gpu-1/rdma_link: {MAX_ANSWER_BYTES + 1:,} bytes, {TOO_LARGE}"}


def test_a_device_that_is_not_in_the_plan_is_read_and_noted(tree: Path) -> None:
    capture = read_capture(grow(tree, {"gpu-9/rdma_link": RDMA}), devices=PLAN)
    assert capture.devices_seen == ("gpu-2", "gpu-9")
    assert capture.notes == ("folders under names that are not in the plan, read all the same: 1 (gpu-9)",)


def test_one_device_under_two_names_is_merged(tree: Path) -> None:
    capture = read_capture(grow(tree, {"GPU-2.example.net/ip_-j_link": LINKS}), devices=PLAN)
    assert [(r.device, r.source) for r in capture.readings] == [
        ("gpu-2", "GPU-2.example.net/ip_-j_link"),
        ("gpu-2", "gpu-2/rdma_link"),
    ]
    assert capture.notes == ("devices with several folders, read as one: 1 (gpu-2 = gpu-2 = GPU-2.example.net)",)


@pytest.mark.parametrize("other", ["", RDMA.replace("ACTIVE", "DOWN")])
def test_where_two_folders_of_a_device_disagree_the_planned_spelling_wins(tree: Path, other: str) -> None:
    capture = read_capture(grow(tree, {"GPU-2.example.net/rdma_link": other}), devices=PLAN)
    assert rest_is_read(capture)
    assert capture.notes[-1] == (
        "answers that differ between two folders of one device, the first is used: 1 "
        "(gpu-2/rdma_link, GPU-2.example.net/rdma_link)"
    )


def test_a_second_folder_that_cannot_be_read_costs_only_itself(tree: Path) -> None:
    (tree / "gpu-2.example.net" / "rdma_link").mkdir(parents=True)
    capture = read_capture(tree, devices=PLAN)
    assert rest_is_read(capture)
    assert "answers that differ" in capture.notes[-1]


def test_hostile_names_are_shown_harmless(tree: Path) -> None:
    capture = read_capture(
        grow(tree, {"gpu\x1b[2J\n\u202eevil/rdma_link": RDMA, "gpu-2/\x1b[31mred": ""}), devices=PLAN
    )
    shown = "\n".join([*capture.notes, *capture.devices_seen, *(r.source for r in capture.readings)])
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert r"gpu\x1b[2J\x0a\u202eevil" in capture.devices_seen


def test_unknown_files_are_counted(tree: Path) -> None:
    capture = read_capture(grow(tree, {f"gpu-1/dmesg{n}": "x" for n in range(5)} | {"README": ""}), devices=PLAN)
    assert capture.notes[0] == "files beside the folders of devices ignored: 1 (README)"
    assert capture.notes[1].startswith("unknown files ignored: 5 (gpu-1/dmesg")
    assert capture.notes[1].endswith(", ...)")


def test_answers_of_another_kind_of_device_are_ignored_aloud(tree: Path) -> None:
    capture = read_capture(grow(tree, {"gpu-1/show_lldp_table": "x"}), devices=PLAN)
    assert errors(capture) == {}
    (note,) = capture.notes
    assert note.startswith("answers ignored, because the plan gives the device a role that is not asked for them: 1 ")
    assert note.endswith("(gpu-1/show_lldp_table: planned as host)")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("", "empty answer"),
        ("   \n\n", "empty answer"),
        ("bash: rdma: command not found\n", "line 1: the device refused: 'bash: rdma: command not found'"),
        ("sh: 1: rdma: Permission denied\n", "line 1: the device refused: 'sh: 1: rdma: Permission denied'"),
        ("        ^\n% Invalid input detected at '^' marker.\n", 'line 2: the device refused: "% Invalid input'),
        ('Traceback (most recent call last):\n  File "/usr/bin/x"\nKeyError: 1\n', "line 1: the device refused"),
        (LINKS, ""),
        (lldp("eth0", "leaf-0", "swp1"), ""),
        ("\x00\x01\x02\xff", ""),
    ],
)
def test_refusals_and_answers_to_another_question_are_not_taken_for_answers(tree: Path, answer: str, why: str) -> None:
    capture = read_capture(grow(tree, {"gpu-1/rdma_link": answer}), devices=PLAN)
    assert list(errors(capture)) == ["gpu-1 rdma_link"]
    assert errors(capture)["gpu-1 rdma_link"].startswith(f"gpu-1/rdma_link: {why}")
    assert rest_is_read(capture)


def test_bytes_that_are_not_utf8_do_not_cost_the_rest_of_the_answer(tree: Path) -> None:
    answer = lldp("eth0", "leaf-M", "swp1").replace("leaf-M", "leaf-\xfc").encode("latin-1")
    capture = read_capture(grow(tree, {"gpu-1/lldpctl_-f_json": answer}), devices=PLAN)
    (neighbor,) = capture.snapshot().table(Neighbor).rows
    assert neighbor.system_name == "leaf-\ufffd"
    assert capture.notes == ("answers with bytes that are not UTF-8, read as \ufffd: 1 (gpu-1/lldpctl_-f_json)",)


def test_a_byte_order_mark_is_no_part_of_the_answer(tree: Path) -> None:
    capture = read_capture(grow(tree, {"gpu-1/ip_-j_link": "\ufeff" + LINKS}), devices=PLAN)
    assert errors(capture) == {}


def test_hostile_lldp_strings_arrive_whole_as_facts(tree: Path) -> None:
    name = "\x1b]0;x\x07<script>=cmd|'/c calc'!A0\n\u202e" + "A" * 511
    capture = read_capture(grow(tree, {"gpu-1/lldpctl_-f_json0": lldp("eth0", name, "swp1")}), devices=PLAN)
    assert errors(capture) == {}
    assert len(capture.snapshot().table(Neighbor)) == 1


ODD = {
    "climbs": (member("capture/../../etc/passwd"), "archive members refused, because their names lead out"),
    "absolute": (member("/etc/passwd"), "archive members refused, because their names lead out"),
}


@pytest.mark.parametrize("name", ODD)
def test_members_whose_names_lead_out_are_refused(tmp_path: Path, name: str) -> None:
    info, said = ODD[name]
    capture = read_capture(pack(tmp_path / "c.tgz", GOOD, info), devices=PLAN)
    assert capture.notes[0].startswith(said)
    assert info.name in capture.notes[0]
    assert rest_is_read(capture)


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_in_an_archive_are_refused(tmp_path: Path, kind: bytes) -> None:
    odd = member("gpu-1/rdma_link", type=kind, linkname="gpu-2/rdma_link")
    capture = read_capture(pack(tmp_path / "c.tgz", GOOD, odd), devices=PLAN)
    assert errors(capture) == {"gpu-1 rdma_link": "gpu-1/rdma_link: a link or a device in the archive"}
    assert rest_is_read(capture)


def test_nothing_is_unpacked_to_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = pack(tmp_path / "c.tgz", GOOD, member("gpu-1", type=tarfile.DIRTYPE))
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    assert rest_is_read(read_capture(source, devices=PLAN))
    assert list(empty.iterdir()) == []
    assert list(tmp_path.iterdir()) == [source, empty] or list(tmp_path.iterdir()) == [empty, source]


def sparse(path: Path) -> Path:
    """An archive with a file of 10 GB of which nothing is stored (GNU sparse format), and a good one after it."""
    header = bytearray(member("gpu-1/rdma_link").tobuf(tarfile.GNU_FORMAT))
    header[156:157] = tarfile.GNUTYPE_SPARSE
    header[386:398] = header[398:410] = b"00000000000\x00"
    header[483:495] = b"\x80" + (10 * 1024**3).to_bytes(11, "big")
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\x00 " % sum(header)
    path.write_bytes(bytes(header) + pack(path, GOOD, mode="w").read_bytes())
    return path


def test_a_sparse_member_of_ten_gigabytes_is_refused_unread(tmp_path: Path) -> None:
    capture = read_capture(sparse(tmp_path / "c.tar"), devices=PLAN)
    assert errors(capture) == {"gpu-1 rdma_link": f"gpu-1/rdma_link: 10,737,418,240 bytes, {TOO_LARGE}"}
    assert rest_is_read(capture)


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits of an archive that a test can reach."""
    monkeypatch.setattr(archive, "MAX_UNPACKED_BYTES", 64 * 1024)
    monkeypatch.setattr(archive, "MAX_KEPT_BYTES", 2048)
    monkeypatch.setattr(archive, "MAX_MEMBERS", 20)


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"gpu-1/core": b"\0" * 10**6}, "it unpacks to more than"),
        ({f"gpu-1/rdma_link{n}": b"" for n in range(30)}, "it has more than 20 members"),
        ({"gpu-1/rdma_link": b" " * 4096}, "its answers take more than"),
    ],
)
def test_a_bomb_ends_in_a_note_and_what_came_before_is_read(tmp_path: Path, files: dict[str, bytes], said: str) -> None:
    capture = read_capture(pack(tmp_path / "c.tgz", {**GOOD, **files}), devices=PLAN)
    assert any(note.startswith("the archive was read only in part: ") and said in note for note in capture.notes)
    assert rest_is_read(capture)


def test_a_header_that_claims_gigabytes_is_not_believed(tmp_path: Path) -> None:
    odd = member("./@LongLink", type=tarfile.GNUTYPE_LONGNAME, size=3 * 1024**3)
    capture = read_capture(pack(tmp_path / "c.tar", GOOD, odd, mode="w"), devices=PLAN)
    assert "a header claims 3,221,225,472 bytes" in capture.notes[0]
    assert rest_is_read(capture)


@pytest.mark.parametrize("keep", [0.5, 0.9])
def test_an_archive_that_breaks_off_is_read_so_far(tmp_path: Path, keep: float) -> None:
    noise = {f"gpu-1/noise{n}": os.urandom(20_000) for n in range(5)}
    source = pack(tmp_path / "c.tgz", {**GOOD, **noise})
    os.truncate(source, int(source.stat().st_size * keep))
    capture = read_capture(source, devices=PLAN)
    assert capture.notes[0].startswith("the archive was read only in part: ")
    assert rest_is_read(capture)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_an_answer_that_powershell_redirected_is_read(tree: Path, encoding: str) -> None:
    answer = ("\ufeff" + LINKS).encode(encoding)
    capture = read_capture(grow(tree, {"gpu-1/ip_-j_link": answer}), devices=PLAN)
    assert errors(capture) == {}
    assert capture.notes == ()


def test_packed_answers_are_named_with_the_way_to_read_them(tree: Path) -> None:
    capture = read_capture(grow(tree, {"gpu-1/rdma_link.gz": b"\x1f\x8b"}), devices=PLAN)
    assert capture.notes == (
        "packed files ignored: unpack them, or pack the whole capture as one .tar.gz: 1 (gpu-1/rdma_link.gz)",
    )
