"""How often cables and causes are named right."""
