"""Alerts and dashboards as code. What is generated from it is in `dashboards/generated`."""
