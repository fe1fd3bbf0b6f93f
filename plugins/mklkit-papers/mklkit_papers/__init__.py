"""The tables and figures of the papers, reproduced beside the printed numbers.

One module per paper holds its protocols and numbers as data; the other modules run and show them.
"""
