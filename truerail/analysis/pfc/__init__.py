"""PFC pauses as a wait-for graph for each priority: roots, culprit ports and victims."""
