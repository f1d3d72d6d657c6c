"""The program: `truerail`, and `python -m truerail`."""

import signal

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until `main` handles it: no traceback of an import

from truerail.cli import main

if __name__ == "__main__":
    main()
