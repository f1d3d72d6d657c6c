"""Logs of jobs that are drawn over simulated fabrics, and how well they are joined with rails."""
