"""What the service shows over HTTP: the API, event streams, metrics and the page, to those who may see them."""
