"""Migrations of databases of older versions. `truerail.journal.schema_migration` runs them."""
