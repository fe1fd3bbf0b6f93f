"""The tables and figures of the papers, run anew beside the printed numbers.

One module a paper holds its protocols and numbers as data; the other modules run and show them.
"""
