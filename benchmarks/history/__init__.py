"""The history: how long questions of a store take."""
