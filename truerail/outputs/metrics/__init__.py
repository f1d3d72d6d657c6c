"""Prometheus metrics of the newest evaluation, and the targets that Prometheus discovers from it."""

from truerail.outputs.metrics.exposition import CONTENT_TYPE, Exposition
from truerail.outputs.metrics.scrape_targets import sd

__all__ = ["CONTENT_TYPE", "Exposition", "sd"]
