"""Shared by readers of plan and inventory files: YAML with lines, node sets, problems with file, line and value."""
