"""A leaf-spine fabric on one machine: real lldpd, snmpd and sshd in network namespaces, real cables between them.

`python -m tests.lab up` starts it, `down` removes it; `docs/lab.md` shows what to do with it. Tests use `lab.fabric`.
It needs root and the packages in `requirements/apt.txt`. Everything it makes is inside namespaces of its own and in one
folder under /run: the machine's own interfaces, addresses and daemons stay as they are.
"""
