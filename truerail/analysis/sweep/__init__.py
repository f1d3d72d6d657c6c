"""What a path sweep shows: the paths of flows, where packets are lost, cut or rewritten, and how switches spread."""
