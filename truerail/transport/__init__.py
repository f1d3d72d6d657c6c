"""The only code that touches devices or what they left behind. Today: captures (`replay`)."""
