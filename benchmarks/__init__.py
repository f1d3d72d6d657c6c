"""Measurements, a folder for each subject. `make bench` has the commands, benchmarks/results the results."""
