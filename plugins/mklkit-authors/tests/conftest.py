"""What these tests share; some need mklkit's own helpers and pages, which a checkout has."""

from __future__ import annotations

import os
import sys
from pathlib import Path

MKLKITS_TESTS = Path(__file__).parents[3] / "tests"
if (MKLKITS_TESTS / "helpers").is_dir():
    sys.path.append(str(MKLKITS_TESTS))
else:
    collect_ignore = [
        "test_from_a_paper.py",
        "test_pages_of_templates.py",
        "test_plugin_command.py",
        "test_plugin_tutorial.py",
    ]

# As mklkit's own tests: threads that wait for each other would slow down several workers.
os.environ.setdefault("OMP_NUM_THREADS", "1")
