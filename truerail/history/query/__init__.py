"""SQL over a history store: read-only, in a process of its own with limits."""
