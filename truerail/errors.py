"""Every exception that truerail raises on purpose, in one tree.

The text of each names the thing and the value at fault, and never a secret. Errors of files people write
(`truerail.files.problems.FileError` and its kinds) stand with the problems that they carry.
"""

from collections.abc import Mapping, Sequence
from typing import Self

_SHOWN_CHARACTERS = 120


class TruerailError(Exception):
    """The root of the tree."""


# --- answers of devices -----------------------------------------------------------------------------------------------


class UnreadableError(TruerailError, ValueError):
    """An answer in another format than expected, or cut short. It is refused as a whole, never read in part.

    `line` is the 1-based line at fault, 0 where the whole answer is.
    """

    def __init__(self, why: str, *, line: int = 0, text: str = "") -> None:
        self.why = why
        self.line = line
        self.text = text
        at = f"line {line}: " if line else ""
        super().__init__(f"{at}{why}{f': {_shortened(text)!r}' if text else ''}")

    def to_keep(self) -> Self:
        """The same error without what led to it: the frames of a traceback, or of a cause, hold the whole answer."""
        error = type(self).__new__(type(self), *self.args)
        error.why, error.line, error.text = self.why, self.line, _shortened(self.text)
        return error


class NoAnswerError(UnreadableError):
    """A complete answer without the data: the tool, the permission or the thing itself is missing on the device."""


class TooMuchError(UnreadableError):
    """An answer that is longer than any of a device, or takes longer to read."""


TOO_SLOW = "it took more than"
"""What the error of an answer that takes longer says: its question is not asked again soon."""


class SlowDeviceError(TruerailError):
    """A device whose answers take longer to read than those of any."""


class ReaderFaultError(UnreadableError):
    """An answer that its reader broke on: a bug of truerail, which no device should be able to cause."""

    def __init__(self, why: str) -> None:
        super().__init__(f"{READER_FAULT} ({why})")


READER_FAULT = "its reader failed: a bug of truerail"
"""What the error of such an answer begins with, also behind a file's name."""


class OutOfBoundsError(TruerailError, ValueError):
    """A number or text that no device has, in a required field of a fact."""


# --- transports -------------------------------------------------------------------------------------------------------


class TransportError(TruerailError):
    """A device that could not be asked: refused, timed out, unknown host key, wrong password."""


class ConnectError(TransportError):
    """No connection (refused, reset, timed out before login). A retry may help.

    A failed login and an unknown host key are not of this kind: a retry locks accounts.
    """


class HostKeyError(TransportError):
    """A host key that is unknown, changed or revoked. Names its fingerprint and what to do."""


class SilentSessionError(TransportError):
    """A session that did not print the first line of the script."""


class UndeclaredCommandError(TransportError):
    """A command that no collector declares for this platform. It was not sent."""


class NoExecError(TruerailError):
    """The switch refuses exec channels and offers a shell only."""


class WalkError(TruerailError):
    """An incomplete SNMP walk."""


class SecretMissingError(TruerailError, LookupError):
    """A secret that is referred to is missing. Names the reference."""


# --- captures and folders ---------------------------------------------------------------------------------------------


class CaptureError(TruerailError):
    """A path without a capture. Names the path and the reason."""


class FileRefusedError(TruerailError):
    """A file or folder that is not read, with the reason for the operator."""


class FolderBusyError(TruerailError):
    """Another process writes to the folder. Names it, and since when."""


class ScrubError(TruerailError, ValueError):
    """A name that cannot be replaced without damage to the answers around it. Nothing was written."""


class NodeSetError(TruerailError, ValueError):
    """A node set that cannot be expanded."""


# --- evaluation and questions -----------------------------------------------------------------------------------------


class CounterWindowError(TruerailError, ValueError):
    """Bytes without a counter window that this version understands."""


class LinkPastError(TruerailError, ValueError):
    """Bytes without a past of links that this version understands."""


class NotFoundError(TruerailError, LookupError):
    """A name that is neither in the plan nor in the snapshot. Names it and the nearest known name."""


class NoJobError(NotFoundError):
    """No running job has this id or name: it may have ended."""


class QueryError(TruerailError, ValueError):
    """A question with a value that cannot be understood: a node set, a time."""


class NoJobQueryError(QueryError):
    """The same, where the query is no node set either."""


class QueryLimitError(TruerailError):
    """A query of the history that takes more time or memory than it may. Names the limit."""


class TooManyQueriesError(TruerailError, RuntimeError):
    """The limit of waiting queries of the history is reached."""


class AnswerError(TruerailError, ValueError):
    """JSON that does not match the answer's schema. Names the field."""


class NoRoomError(TruerailError, ValueError):
    """A simulated fabric without a place for one more fault of this kind."""


# --- service ----------------------------------------------------------------------------------------------------------


class CommandError(TruerailError):
    """A command that cannot run. One problem a line, each with what to change."""


class SettingsError(TruerailError):
    """Settings that cannot be used. `problems` has one line for each."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(problems))


class NotReadyError(TruerailError, RuntimeError):
    """The first round is still running: there is no evaluation yet."""


class NotInViewError(TruerailError, LookupError):
    """A value of the publication that the view does not hold: the judge has it."""


class JudgeUnavailableError(TruerailError):
    """The judge, which evaluates rounds, does not answer: what only it knows is unknown until it is back."""


class ViewRefusedError(TruerailError, ValueError):
    """Another machine's view is not read: it has another structure, or holds what no view is made of. Names it."""


class JournalUnavailableError(TruerailError):
    """The journal cannot be read or written at the moment."""


class JournalUnusableError(JournalUnavailableError):
    """The journal cannot be used, and a retry does not help: its URL is wrong, or a newer truerail made it."""


class JournalReadOnlyError(JournalUnavailableError):
    """The database works and refuses these values. A retry does not help."""


class JournalFencedError(JournalUnavailableError):
    """A write of a judge that leads no more: another one leads with a higher epoch. Names both epochs."""


class DeliveryError(TruerailError):
    """A message that a receiver did not take: it is sent again. Names no secret, not even the whole URL."""


class DeliveryRefusedError(DeliveryError):
    """A message that the receiver will never take. It is not sent again."""


# --- bus --------------------------------------------------------------------------------------------------------------


class BusMessageError(TruerailError, ValueError):
    """Bytes that are no message of a poller. They are counted and dropped, whole."""


class BusSchemaError(BusMessageError):
    """A message of a version that this one cannot read. Names both schemas, and what to upgrade."""


class BusError(TruerailError):
    """The bus cannot be used: it does not answer, refuses the login, or lacks a stream. Names its address and why."""


# --- web --------------------------------------------------------------------------------------------------------------


class ListenError(TruerailError, OSError):
    """The service cannot listen on this address. Names host and port."""


class AccessError(TruerailError, ValueError):
    """Settings of access that cannot be used. Names the setting."""


class MissingExtraError(CommandError):
    """A feature whose packages are not installed. Names the extra and its installation."""

    def __init__(self, extra: str, feature: str) -> None:
        self.extra = extra
        super().__init__(f"{feature} needs packages that are not installed: pip install 'truerail[{extra}]'")


class HistoryStoreError(TruerailError):
    """A history store that cannot be read or written. Names the folder."""


class CertificateError(TruerailError, ValueError):
    """A certificate or key that cannot be used. Names the file."""


class RequestRefusedError(TruerailError):
    """A request that is refused with an HTTP `status`, a reason and further headers."""

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None) -> None:
        self.status = status
        self.detail = detail
        self.headers = dict(headers or {})
        super().__init__(detail)


class CursorError(QueryError):
    """A cursor that this service did not issue for this list."""


class ConflictError(TruerailError):
    """Somebody else changed it since the caller looked. Names who; `now` is what is there, if that has a name."""

    def __init__(self, words: str, now: str | None = None) -> None:
        super().__init__(words)
        self.now = now


class ListChangedError(TruerailError):
    """The row that a cursor points to is gone: read the list from its start."""


class TooManyStreamsError(TruerailError, RuntimeError):
    """The limit of open event streams is reached."""


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[: _SHOWN_CHARACTERS - 1]}…"
