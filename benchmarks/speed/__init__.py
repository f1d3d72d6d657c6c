"""Time and memory of a check, of counters and of the journal."""
