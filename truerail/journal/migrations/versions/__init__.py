"""Steps of the schema, for alembic. The first begins from nothing; each later one from the one before."""
