"""Derives results from a plan and a snapshot. No input, no output."""
