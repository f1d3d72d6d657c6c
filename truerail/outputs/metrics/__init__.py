"""Prometheus metrics of the newest evaluation, and the targets that Prometheus discovers from it."""

from truerail.outputs.metrics.discovery import sd
from truerail.outputs.metrics.exposition import CONTENT_TYPE, Exposition

__all__ = ["CONTENT_TYPE", "Exposition", "sd"]
