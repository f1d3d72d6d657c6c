"""Helpers for tests of rules."""
