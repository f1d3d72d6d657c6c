"""Where the command line starts and ends: every failure becomes a short message and an exit code here."""

import gc
import os
import signal
import sys
import traceback

from truerail.cli.exit_codes import ExitCode
from truerail.errors import CommandError, MissingExtraError

_YOUNG = 200_000
"""Values from one garbage collection to the next. What a command imports is no garbage: with Python's own 700 a seventh
of a service's start goes into searching it.
"""


def main() -> None:
    """The entry point `truerail`. Always ends by SystemExit."""
    gc.set_threshold(_YOUNG)
    try:
        if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        from truerail.cli.app import app

        app(prog_name="truerail")
    except CommandError as error:
        complain(str(error))
        raise SystemExit(ExitCode.CANNOT_EVALUATE) from None
    except KeyboardInterrupt:
        raise SystemExit(ExitCode.INTERRUPTED) from None
    except Exception as error:  # noqa: BLE001 - the one place where whatever is left becomes exit code 3
        from truerail.extras import extra_of

        if isinstance(error, ModuleNotFoundError) and (extra := extra_of(error.name or "")):
            complain(str(MissingExtraError(extra, "this")))
            raise SystemExit(ExitCode.CANNOT_EVALUATE) from None
        _confess(error)
        raise SystemExit(ExitCode.BUG) from None


def complain(words: str) -> None:
    """Prints an error on stderr, each line safe to show."""
    from truerail.model.names import printable

    for line in words.splitlines():
        print(f"truerail: {printable(line, 1000)}", file=sys.stderr)  # noqa: T201 - this is the command line


def _confess(error: Exception) -> None:
    frames = traceback.extract_tb(error.__traceback__)
    where = f"{frames[-1].filename}:{frames[-1].lineno} in {frames[-1].name}" if frames else "an unknown place"
    complain(f"internal error, a bug in truerail: {type(error).__name__}: {error}\nat {where}")
    if os.environ.get("TRUERAIL_DEBUG") == "1":
        traceback.print_exception(error)
    else:
        complain("set TRUERAIL_DEBUG=1 and run again for the full traceback")
