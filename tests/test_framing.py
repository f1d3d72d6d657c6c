"""One session carries all commands, and no output can pass for a frame: with real shells, and byte by byte."""

import shutil
import subprocess
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truerail.errors import SilentSessionError
from truerail.transport.framing import LIMITS, Frames, Limits, script
from truerail.transport.shell_sessions import Ended, outcome

SHELLS = [shell for shell in ("sh", "bash", "dash", "zsh") if shutil.which(shell)]


def converse(commands: list[str], shell: str = "sh", limits: Limits = LIMITS, chunk: int = 1 << 16) -> Frames:
    """Runs the script in a real shell, as a login shell does, and feeds what it prints in chunks."""
    frames = Frames(commands, limits)
    done = subprocess.run([shell, "-c", frames.script], input=frames.opening, capture_output=True, check=False)
    for at in range(0, len(done.stdout), chunk):
        frames.out(done.stdout[at : at + chunk])
    for at in range(0, len(done.stderr), chunk):
        frames.err(done.stderr[at : at + chunk])
    return frames


def nonce(frames: Frames) -> bytes:
    return frames.opening.strip()


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("chunk", [1, 7, 1 << 16])
def test_each_answer_is_what_its_command_printed(shell: str, chunk: int) -> None:
    frames = converse(["printf 'a\\nb'", "echo", "true", "printf '\\303\\244\\377'"], shell, chunk=chunk)
    assert frames.finished
    assert [answer.text for answer in frames.answers()] == ["a\nb", "\n", "", "ä\ufffd"]
    assert [answer.error for answer in frames.answers()] == ["", "", "", ""]


def test_a_failure_is_reported_with_its_first_words_and_what_was_printed_is_kept() -> None:
    frames = converse(["no-such-program -x", "echo out; echo 'why \033[1m not' >&2; exit 3", "echo next"])
    missing, failed, after = frames.answers()
    assert missing.error.startswith("command not found: ")
    assert "no-such-program" in missing.error
    assert (failed.text, failed.error) == ("out\n", "exit status 3: why \\x1b[1m not")
    assert (after.text, after.error) == ("next\n", "")
    assert [answer.refused for answer in (missing, failed, after)] == [True, True, False]


def test_a_program_that_may_not_run_is_distinguished_from_one_that_is_missing(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("")
    assert converse([str(program)]).answers()[0].error.startswith("command not allowed to run: ")


def test_a_command_cannot_end_the_script_or_read_on_in_it_or_change_it() -> None:
    commands = ["exit 0", "cat", "truerail_nonce=x; say() { :; }", "cd /; set -e; false", "exec true", "echo still"]
    frames = converse(commands)
    assert frames.finished
    assert [answer.text for answer in frames.answers()] == ["", "", "", "", "", "still\n"]


def test_commands_are_not_given_the_nonce_and_no_process_list_shows_it() -> None:
    look = "env; cat /proc/self/environ /proc/$PPID/cmdline; cat /proc/[0-9]*/cmdline"
    frames = converse([look])
    assert "truerail_nonce" in frames.answers()[0].text, "the script is seen"
    assert nonce(frames).decode() not in frames.answers()[0].text


def test_a_nonce_in_the_environment_is_not_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("truerail_nonce", "old")
    frames = converse(["env"])
    assert "truerail_nonce=" not in frames.answers()[0].text


def test_the_script_depends_on_the_commands_alone() -> None:
    first, second = Frames(["rdma link"]), Frames(["rdma link"])
    assert first.script == second.script == script(["rdma link"])
    assert first.opening != second.opening
    assert "\n" not in first.script
    assert len(nonce(first)) == 32


def test_frames_of_another_session_are_output(tmp_path: Path) -> None:
    other = Frames(["x"])
    forged = nonce(other) + b" 0 0\n" + nonce(other) + b" 1 0\nforged\n"
    (tmp_path / "forged").write_bytes(forged)
    frames = converse([f"cat {tmp_path}/forged", "echo true"])
    assert [answer.text for answer in frames.answers()] == [forged.decode(), "true\n"]


@given(st.lists(st.tuples(st.binary(max_size=200), st.integers(0, 255)), min_size=1, max_size=5), st.integers(1, 50))
def test_any_output_comes_through_whole_however_it_is_cut(said: list[tuple[bytes, int]], chunk: int) -> None:
    frames = Frames(["x"] * len(said))
    stream = b"noise of a login shell" + nonce(frames) + b" 0 0\n"
    for number, (content, status) in enumerate(said, 1):
        stream += content + nonce(frames) + b" %d %d\n" % (number, status)
    for at in range(0, len(stream), chunk):
        frames.out(stream[at : at + chunk])
    assert frames.finished
    assert [a.text for a in frames.answers()] == [content.decode(errors="replace") for content, _ in said]
    assert [not a.error for a in frames.answers()] == [status == 0 for _, status in said]


@given(st.binary(max_size=60))
def test_what_has_the_nonce_but_is_no_frame_in_its_turn_stays_output(said: bytes) -> None:
    frames = Frames(["x"])
    content = b"a" + nonce(frames) + b" 7 0\n" + said + nonce(frames) + b" 1 x\n"
    frames.out(nonce(frames) + b" 0 0\n" + content + nonce(frames) + b" 1 0\n")
    assert frames.answers()[0].text == content.decode(errors="replace")


def test_an_answer_that_is_too_long_is_dropped_and_the_next_is_read() -> None:
    limits = Limits(answer_bytes=100_000)
    commands = ["head -c 100000 /dev/zero", "head -c 100001 /dev/zero", "head -c 3000000 /dev/zero", "echo on"]
    exact, over, far, after = converse(commands, limits=limits, chunk=1000).answers()
    assert (len(exact.text), exact.error) == (100_000, "")
    assert (over.text, over.error) == ("", "more than 100000 bytes of output, not read")
    assert (far.text, far.error) == (over.text, over.error)
    assert not over.refused
    assert (after.text, after.error) == ("on\n", "")


def test_endless_output_takes_bounded_memory_on_both_streams_and_is_called_a_flood() -> None:
    frames = Frames(["x"], Limits(answer_bytes=1 << 20, device_bytes=60 << 20))
    frames.out(nonce(frames) + b" 0 0\n")
    block = b"y" * 65536
    tracemalloc.start()
    for _ in range(450):
        assert not frames.flooded
        frames.out(block)
        frames.err(block)
    frames.out(block * 200)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert frames.flooded
    assert peak < 35 << 20, "one block of 13 MB comes at once, twice in memory while it is joined"
    why = f"more than {60 << 20} bytes of output in one session, cut off"
    assert [answer.error for answer in outcome(frames, Ended.FLOODED, 5)] == [why]


def test_much_said_on_standard_error_is_cut_to_its_beginning_and_stays_with_its_command() -> None:
    noisy = "echo first >&2; head -c 200000 /dev/zero >&2; exit 1"
    one, two = converse([noisy, "echo second >&2; exit 1"], limits=Limits(complaint_bytes=100), chunk=512).answers()
    assert one.error.startswith("exit status 1: first")
    assert two.error == "exit status 1: second"


def test_times_are_those_between_the_frames() -> None:
    now = iter([0.0, 1.0, 3.5, 4.0])
    frames = Frames(["a", "b"], clock=lambda: next(now))
    for number in range(3):
        frames.out(nonce(frames) + b" %d 0\n" % number)
    assert [answer.took_seconds for answer in frames.answers()] == [2.5, 0.5]


def test_a_session_that_ends_early_costs_the_answers_that_are_not_whole() -> None:
    frames = Frames(["a", "b", "c"])
    frames.out(nonce(frames) + b" 0 0\nwhole" + nonce(frames) + b" 1 0\nhal")
    a, b, c = outcome(frames, Ended.BY_ITSELF, 5)
    assert (a.text, a.error) == ("whole", "")
    assert (b.text, b.error) == ("", "the session ended before the answer was whole: hal")
    assert c.error.startswith("not asked: the session ended")


def test_a_command_that_hangs_leaves_those_behind_it_to_the_next_session() -> None:
    frames = Frames(["a", "b", "c"])
    frames.out(nonce(frames) + b" 0 0\nwhole" + nonce(frames) + b" 1 0\n")
    assert [answer.error for answer in outcome(frames, Ended.SLOW, 5)] == ["", "no answer within 5 s"]


def test_a_session_without_any_frame_says_what_came_instead() -> None:
    frames = Frames(["a"])
    frames.err(b"This account is not available.\n")
    with pytest.raises(SilentSessionError, match=r"no sign of the script.*only: This account is not available\."):
        outcome(frames, Ended.BY_ITSELF, 5)
