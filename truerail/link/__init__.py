"""What pollers, judges and fronts send each other: messages, their codec, and the connections that carry them.

The same messages go over a socket pair to a process of the same service and over NATS to another machine.
"""
