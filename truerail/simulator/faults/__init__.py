"""Faults of a fabric, their places, and the truth about them."""
