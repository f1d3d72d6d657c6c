"""Ready-made questions of the history: a file of SQL each, with a head that `ReadyQuestion.read` describes."""
