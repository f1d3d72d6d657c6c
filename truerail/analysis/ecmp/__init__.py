"""How switches spread flows over their uplinks, and what chance, a repeated hash or a dead member make of it."""
