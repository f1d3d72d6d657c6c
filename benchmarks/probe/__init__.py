"""How often a path sweep names faults right: simulated fabrics with hashes of their own, judged by the rules."""
