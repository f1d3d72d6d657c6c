"""What asking live devices costs: SSH and SNMP, and how soon a re-cabled port is named; one after the other.

python -m benchmarks.transport.measure [--write PAGE]
"""

import argparse
import os
import sys
from pathlib import Path

from benchmarks.transport import recable, snmp, ssh


def main() -> None:
    """Measures, and writes the page or prints it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the page here instead of printing it")
    write = parser.parse_args().write
    head = (
        "# Asking live devices, as measured\n\n"
        f"`make bench` writes this page, on {os.cpu_count()} cores with Python {sys.version.split()[0]}.\n"
        "Absolute figures drift with the machine; ratios hold.\n"
    )
    page = "\n".join((head, ssh.section(), snmp.section(), recable.section()))
    if write:
        write.write_text(page, encoding="utf-8")
    else:
        sys.stdout.write(page)


if __name__ == "__main__":
    main()
