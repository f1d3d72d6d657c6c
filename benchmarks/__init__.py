"""Measurements, a folder for each subject. `make bench` has the commands, docs/measured the results."""
