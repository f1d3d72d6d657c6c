"""Inventory files: which devices there are and how they are reached."""
