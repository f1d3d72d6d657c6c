"""What readers of plan and inventory files share: YAML with lines, node sets, problems with file, line and value."""
