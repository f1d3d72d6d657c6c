"""What is written from the rules: for Prometheus, Kubernetes, Grafana, Alertmanager and promtool, and the runbooks."""
