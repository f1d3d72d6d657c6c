"""What can be wrong with a fabric, where it is put, and the truth about it."""
