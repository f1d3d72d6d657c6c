"""`python -m truerail` is `truerail`."""

from truerail.cli import main

main()
