"""Templates for four kinds of combiner, each with one method to implement."""
