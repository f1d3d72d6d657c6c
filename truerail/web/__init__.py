"""The service's HTTP interface: the API, event streams, metrics and the page, with access control."""
