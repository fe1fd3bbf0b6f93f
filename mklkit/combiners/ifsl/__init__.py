"""Papers 000, 002 and 004: learners coupled by the inter-function similarity loss."""
