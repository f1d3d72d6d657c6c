"""How early failing links are forecast (LNK006), and how often healthy ones are."""
