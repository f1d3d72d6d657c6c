"""Reports of evaluations for people and machines. They contain no analysis of their own."""
