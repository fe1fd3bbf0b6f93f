"""MHKS and KMHKS of papers 000 and 002, and the iteration with which ``ifsl`` couples them."""
