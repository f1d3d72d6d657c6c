"""Who waits for whom: pauses as a graph for each priority, with its roots, their culprits and who suffers."""
