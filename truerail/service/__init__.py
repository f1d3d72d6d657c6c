"""The service: asks on a schedule, judges off the event loop, publishes, remembers. The web sees its `Tower` only."""
