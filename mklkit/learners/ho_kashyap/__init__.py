"""MHKS and KMHKS of papers 000 and 002, and the iteration by which ``ifsl`` couples them too."""
