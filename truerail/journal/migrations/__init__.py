"""Migrations of databases of older versions. `truerail.journal.database` runs them."""
