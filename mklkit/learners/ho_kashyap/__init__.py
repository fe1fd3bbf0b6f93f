"""The Ho-Kashyap learners of papers 000 and 002: margins, ridge regressions, MHKS, KMHKS."""
