"""MHKS and KMHKS, and the iteration with which ``ifsl`` couples them."""
