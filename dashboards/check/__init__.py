"""What is checked of the dashboards: conventions, PromQL, types, answers of a real Prometheus and of a real Grafana."""
