"""What polling devices costs."""
