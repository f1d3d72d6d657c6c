"""How switches spread flows over their uplinks, and the effects of chance, a repeated hash or a dead member."""
