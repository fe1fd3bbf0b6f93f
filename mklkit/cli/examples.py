"""Examples at the end of each command's help; tests run them all, in this order."""

from __future__ import annotations

DEFAULT_METHODS = "centered-alignment, dimkl*, ifsl"

EXAMPLES: dict[str, tuple[tuple[str, str], ...]] = {
    "mklkit": (
        ("Learn kernel weights on built-in data, and save the model:", "mklkit fit wine -o w.mkl"),
        ("Predict each sample of a table with it:", "mklkit predict w.mkl wine -o answers.csv"),
        ("See what there is to choose from:", "mklkit list combiners"),
    ),
    "mklkit fit": (
        (
            "Weight three kernels by the rule DiMKL 3, and save the model:",
            "mklkit fit wine --combiner dimkl3 --output wine.mkl",
        ),
        (
            "A kernel for each kind of columns of a table:",
            'mklkit fit patients.csv -t target -k "rbf@fever,pulse" -k "overlap@ward"',
        ),
        (
            "Choose kernels, their scalings and parameters from the training samples:",
            "mklkit fit iris --kernels auto --tune fast",
        ),
    ),
    "mklkit predict": (
        (
            "Write a class for each sample, and for two classes its decision value:",
            "mklkit predict wine.mkl wine --output predictions.csv",
        ),
    ),
    "mklkit score": (
        (
            "Scores with intervals of a saved model on other samples, as JSON:",
            "mklkit score wine.mkl wine --json",
        ),
    ),
    "mklkit evaluate": (
        (
            "Ten folds of one combiner:",
            "mklkit evaluate wine --combiner centered-alignment --cv 10",
        ),
        (
            "Rare classes count as much as frequent ones; results for another program:",
            "mklkit evaluate patients.csv -t target --class-weight balanced --json",
        ),
    ),
    "mklkit compare": (
        (
            "All DiMKL rules on three folds; the same command resumes from runs.jsonl:",
            'mklkit compare iris -c "dimkl*" --cv 3x1 --results runs.jsonl',
        ),
        (
            "A preset on two random splits of a table, with a report of all scores:",
            "mklkit compare patients.csv -p plain --mccv 2 --report methods.html",
        ),
    ),
    "mklkit inspect": (
        ("The contents of a model file, for people:", "mklkit inspect wine.mkl"),
        ("The same for programs, with all columns:", "mklkit inspect wine.mkl --json"),
        ("What to report in a paper, with BibTeX:", "mklkit inspect wine.mkl --methods"),
    ),
    "mklkit explain": (
        (
            "What is lost without each kernel and column, and a picture of it:",
            "mklkit explain wine.mkl wine --cv 3 --plot worth.png",
        ),
    ),
    "mklkit kernels": (
        (
            "Which of three kernels are similar on these data:",
            'mklkit kernels wine -k linear -k rbf -k "polynomial(degree=3)" --centered',
        ),
    ),
    "mklkit list": (
        ("The combiners, and what each learns from:", "mklkit list combiners"),
        ("All kernels with their parameters and facts:", "mklkit list kernels --json"),
    ),
    "mklkit describe": (("The parameters of a kernel:", "mklkit describe rbf"),),
}
"""By command, the purpose of each example and its command line."""


def epilog(*examples: tuple[str, str]) -> str:
    """Return the end of a command's help: the purpose of each example and its command line.

    Examples
    --------
    >>> print(epilog(("The parameters of a kernel:", "mklkit describe rbf")))
    Examples
    <BLANKLINE>
    The parameters of a kernel:
    <BLANKLINE>
      mklkit describe rbf
    """
    lines = [line for told, call in examples for line in (told, f"  {call}")]
    # In rich's markup only a bracket at the beginning of a word has a meaning.
    return "\n\n".join(["Examples", *lines]).replace("[", "\\[")
