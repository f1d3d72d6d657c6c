"""Attacks on what devices answer, and on the service; what they cost others than the attacker."""
