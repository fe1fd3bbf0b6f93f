"""Four kinds of combiner, each with one method to write."""
