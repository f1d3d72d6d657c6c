"""The fabric of a simulation: its plan, its machines, what is plugged where, and the LLDP frames on its links."""
