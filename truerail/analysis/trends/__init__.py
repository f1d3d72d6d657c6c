"""Trends of links over days: samples of light, temperature and bit errors, and which links get worse."""
