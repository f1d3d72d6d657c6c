"""The history store: Parquet files by day, for questions that were not foreseen."""
