"""What the TAB key offers: the shell's scripts ask ``mklkit`` itself, through two variables.

A script calls ``mklkit`` with the shell's name in ``_MKLKIT_COMPLETE`` and the command line up to
the cursor in ``_MKLKIT_LINE``. The first line of the answer says what the script adds by itself
(``files``, ``folders`` or ``nothing``), and each further line is a completion.
"""
