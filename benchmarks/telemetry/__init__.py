"""How often the cause behind traffic is named right."""
