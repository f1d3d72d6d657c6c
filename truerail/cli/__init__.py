"""The command line. Commands import their dependencies inside their functions, so that `--help` responds at once."""

from truerail.cli.run import main as main
