"""What answers the questions: the computing behind each, over one evaluated round."""
