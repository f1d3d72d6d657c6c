"""Migrations of databases of older versions. `truerail.journal.schema` runs them."""
