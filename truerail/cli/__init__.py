"""The command line. What commands need is imported inside them, so that `--help` answers at once."""

from truerail.cli.run import main

__all__ = ["main"]
