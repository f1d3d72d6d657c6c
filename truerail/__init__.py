"""truerail: validates the cabling of rail-optimized GPU fabrics, names the cause and the smallest repair."""

__version__ = "0.1.0"
