"""Alerts and dashboards as code. What is generated from it stands in `dashboards/generated`."""
