"""What `truerail probe` shows: both ends of each flow joined, and what was tried."""
