"""How devices tell what they know: each module renders answers in one tool's real format."""
