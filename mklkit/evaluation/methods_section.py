"""Sentences for the Methods section of a paper, and BibTeX of the works that they cite."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from mklkit._version import __version__
from mklkit.datasets.columns import by_source
from mklkit.display.html import rendered
from mklkit.display.numbers import chosen_texts, significant
from mklkit.errors import counted
from mklkit.evaluation.claims import (
    LEVEL,
    amount_of_margin,
    coverage,
    estimand,
    score_in_words,
)
from mklkit.evaluation.over_data_sets import FEW_DATASETS
from mklkit.registry.citations import citations_of, entries_named


def methods_of_model(metadata: Mapping[str, Any]) -> tuple[str, str]:
    """Return the sentences on a model, from the facts in its file, and BibTeX of their sources."""
    model = metadata["model"]
    every = [column["name"] for column in model.get("input", [])]
    kernels = [
        (kernel, by_source([str(name) for name in kernel["columns"] or []], every))
        for kernel in model.get("kernels", [])
    ]
    chosen = chosen_texts(model.get("chosen", {}))
    content = {**metadata, "kernels": kernels, "chosen": chosen, "significant": significant}
    return _written("evaluation/methods_of_model.txt", content)


def methods_of_plan(plan: Mapping[str, Any]) -> tuple[str, str]:
    """Return the sentences on a comparison, from its plan, and BibTeX of their sources."""
    specs = " ".join(method["spec"] for method in plan["methods"])
    parts = list(dict.fromkeys(re.findall(r"(?:combiner|learner|missing): ([\w.-]+)", specs)))
    tests = {
        "score": score_in_words(plan),
        "estimand": estimand(plan),
        "coverage": coverage(plan),
        "level": LEVEL,
        "few_datasets": FEW_DATASETS,
        "margin": amount_of_margin(plan),
    }
    return _written("comparison/report/methods.txt", {"plan": plan, "parts": parts, **tests})


def _written(template: str, content: Mapping[str, Any]) -> tuple[str, str]:
    cited: dict[str, str] = {}

    def cite(spec: str) -> str:
        """Return a component's description and, in brackets, the keys of its sources."""
        name = spec.partition("(")[0]
        sources = citations_of(name)
        cited.update(sources)
        text = "".join(
            f" ({entry.help.rstrip('.').replace('``', '')})" for entry in entries_named(name)[:1]
        )
        return text + (f" [{'; '.join(sources)}]" if sources else "")

    text = rendered(template, cite=cite, counted=counted, **content)
    return " ".join(text.split()), "\n\n".join(cited.values()).replace("VERSION", __version__)
