"""Alembic's migrations. The first starts from an empty database, each later one from its predecessor."""
