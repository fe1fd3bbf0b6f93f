"""The questions of a comparison that follow from its request, before any score is known."""

from __future__ import annotations

from collections.abc import Sequence

from mklkit.comparison.methods import Method
from mklkit.comparison.references import References

MOST_LEARNED = 4
"""Methods with learned weights to test against even ones: each lowers the power of all tests."""


def planned_questions(
    methods: Sequence[Method],
    references: Sequence[References],
    rivals: Sequence[Method],
    are_named: bool,
) -> list[tuple[str, Method, list[Method]]]:
    """Return the questions that follow from the request, without any score.

    Each has a title, a method and its references. Scores choose only the best of several
    ``rivals``, other classifiers, for which its test corrects; they are compared with the first
    method that the user named, else with the average kernel. To keep the tests few, only
    the first methods with learned weights are tested.
    """
    most = max(1, MOST_LEARNED // max(1, len(references)))
    together = [[*group["even"], *group["alone"]][0] for group in references]
    beside: dict[str, list[tuple[Method, list[Method]]]] = {
        "Learned weights": [
            (method, [even])
            for group in references
            for even in group["even"]
            for method in [m for m in methods if m.is_learned_as(even)][:most]
        ],
        **{
            f"All kernels or {words} one": [
                (kernels, [reference])
                for kernels, group in zip(together, references, strict=True)
                for reference in group[role]
            ]
            for role, words in (("best", "the best"), ("also", "another"))
        },
        "All kernels or the covariates alone": [
            (kernels, [reference])
            for group in references
            for kernels, reference in zip(group["beside"], group["kept"], strict=True)
        ],
    }
    questions = [(title, *pair) for title, pairs in beside.items() for pair in pairs]
    combined = [method for method in methods if method.weights_are and are_named]
    for kernels in [*combined, *together][: len(rivals)][:1]:
        questions.append(("Kernels or other classifiers", kernels, list(rivals)))
    return questions
