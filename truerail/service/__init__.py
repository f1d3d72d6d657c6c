"""The service: asks on a schedule, evaluates off the event loop, publishes, remembers. The web sees its `Tower`
only."""
