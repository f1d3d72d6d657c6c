"""What the behaviours of real devices do to an evaluation."""
