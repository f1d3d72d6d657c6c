"""How databases of older versions become what this version expects. `truerail.journal.schema` takes the steps."""
