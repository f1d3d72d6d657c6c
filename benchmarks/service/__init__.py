"""The service under load, its page and its metrics."""
