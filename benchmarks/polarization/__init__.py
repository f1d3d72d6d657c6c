"""How often polarized tiers and dead members are named right."""
