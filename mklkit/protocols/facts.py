"""Facts: the properties of a component, one small object per kind, mostly with defaults.

A component states them as a class attribute, ``facts = LearnerFacts(...)``, or as a property where
they depend on parameters. They are checked when the component is registered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar, get_args

import attrs

from mklkit.errors import SpecError, quoted
from mklkit.protocols.defaults import FEATURE_MAP, LEARNER
from mklkit.protocols.rows import Reads, Task

__all__ = [
    "CombinerFacts",
    "Facts",
    "FeatureMapFacts",
    "KernelFacts",
    "LearnerFacts",
    "RowWeightsCount",
    "WeightsAre",
    "facts_of",
]

WeightsAre = Literal["learned", "fixed", "choice"]
"""Where a combiner's kernel weights come from."""

RowWeightsCount = Literal["refused", "learner", "throughout"]
"""Where a combiner lets weights of rows count."""

Validator = Callable[[Any, Any, Any], None]


def _must_be(expected: str, fits: Callable[[Any], bool]) -> Validator:
    """Return a validator of an attrs field with an error message that names what was expected."""

    def check(instance: object, attribute: Any, value: Any) -> None:
        if not fits(value):
            raise ValueError(f"{attribute.name} must be {expected}; got {quoted(value)}")

    return check


def _are(kind: type | tuple[type, ...], values: Any) -> bool:
    return isinstance(values, tuple) and all(isinstance(value, kind) for value in values)


_FLAG = _must_be("True or False", lambda value: isinstance(value, bool))
_SPEC = _must_be("a spec string", lambda value: isinstance(value, str) and bool(value))
_SPECS = _must_be("a tuple of spec strings", lambda value: _are(str, value) and all(value))
_NAMES = _must_be("a tuple of names", lambda value: _are(str, value))
_RANGE = _must_be(
    "two numbers (low, high)",
    lambda value: value is None or (_are((int, float), value) and len(value) == 2),
)
_SPACE = _must_be(
    "a mapping of parameter names to tuples of values",
    lambda value: (
        isinstance(value, Mapping)
        and _are(str, tuple(value))
        and all(isinstance(values, tuple) and values for values in value.values())
    ),
)
_COUNT = _must_be(
    "a whole number from 1 up",
    lambda value: value is None or (isinstance(value, int) and value >= 1),
)
_VALUES = _must_be("a tuple of values", lambda value: isinstance(value, tuple))
_READS = _must_be(
    "one of " + ", ".join(map(repr, get_args(Reads))), lambda value: value in get_args(Reads)
)
_TASKS = _must_be(
    "a tuple of some of " + ", ".join(map(repr, get_args(Task))),
    lambda value: bool(value) and _are(str, value) and set(value) <= set(get_args(Task)),
)
_COUNTING = _must_be(
    "one of " + ", ".join(map(repr, get_args(RowWeightsCount))),
    lambda value: value in get_args(RowWeightsCount),
)
_ORIGIN = _must_be(
    "one of " + ", ".join(map(repr, get_args(WeightsAre))),
    lambda value: value in get_args(WeightsAre),
)


@attrs.frozen(kw_only=True)
class Facts:
    """The properties of a component.

    Attributes
    ----------
    search_space : mapping of str to tuple, optional
        The component's parameters that are worth tuning, each with the values to try, from the
        simplest model to the most complex: among values of equal score a search takes the first. A
        short search tries those in the middle.
    """

    search_space: Mapping[str, tuple[Any, ...]] = attrs.field(factory=dict, validator=_SPACE)


@attrs.frozen(kw_only=True)
class KernelFacts(Facts):
    """The properties of a kernel.

    Attributes
    ----------
    definite : bool, default=True
        Whether it is positive semi-definite for all rows.
    reads : {"numbers", "amounts", "text", "categories", "row ids"}, default="numbers"
        What its columns hold: ``"numbers"``, which may be scaled and may come from one-hot encoded
        text; ``"amounts"``, numbers whose zero and unit mean something, such as counts, histograms
        and times of day, which are not scaled; ``"text"``, of which it gets code points;
        ``"categories"``, of which it gets one number for each different value; ``"row ids"`` to
        look up instead of features. All but the first get their columns as they are.
    allows_gaps : bool, default=False
        Whether its columns may have gaps, NaN, which it leaves out; those of other kernels are
        imputed.
    proposed : tuple of str, default=()
        Spec strings of this kernel that are worth trying on any features, the most useful first:
        the candidates of ``kernels="auto"``. Widths should be rules that follow the data.
    examples : tuple, default=()
        A few different values that its columns may hold, where it does not take every value: texts
        of a grammar, say. mklkit's checks make their rows of them.
    search_space : mapping of str to tuple, default={}
        Parameters worth tuning and their values, from the widest kernel to the narrowest, such as
        ``{"sigma": ("2*mean", "mean", "mean/2")}``; see :class:`Facts`.
    """

    definite: bool = attrs.field(default=True, validator=_FLAG)
    reads: Reads = attrs.field(default="numbers", validator=_READS)
    allows_gaps: bool = attrs.field(default=False, validator=_FLAG)
    proposed: tuple[str, ...] = attrs.field(default=(), validator=_SPECS)
    examples: tuple[Any, ...] = attrs.field(default=(), validator=_VALUES)


@attrs.frozen(kw_only=True)
class FeatureMapFacts(Facts):
    """The properties of a feature map.

    Attributes
    ----------
    explicit : bool
        Whether its columns are features; otherwise they are similarities to the training rows.
    instead : str, optional
        The spec string of the map that is taken where this one is a combiner's default and the
        user's learner can't learn from it.
    shared : bool, default=False
        Whether one map, fitted on all rows, serves all binary problems of a classifier.
    for_kernels : tuple of str, default=()
        The names of the kernels that it can be fitted to; empty for all kernels.
    needs_mean_rows : bool, default=False
        Whether it evaluates kernels at means of rows, which rows of text, categories or row ids do
        not have.
    """

    explicit: bool = attrs.field(validator=_FLAG)
    instead: str | None = attrs.field(default=None, validator=attrs.validators.optional(_SPEC))
    shared: bool = attrs.field(default=False, validator=_FLAG)
    needs_mean_rows: bool = attrs.field(default=False, validator=_FLAG)
    for_kernels: tuple[str, ...] = attrs.field(default=(), validator=_NAMES)


@attrs.frozen(kw_only=True)
class LearnerFacts(Facts):
    """The properties of a learner.

    Attributes
    ----------
    on_features, on_gram : bool, default=False
        From which kinds of view it can learn; at least one must be True.
    tasks : tuple of str, default=("two classes",)
        What it learns: ``"two classes"``, ``"several classes"`` in one fit, ``"numbers"``, or
        ``"none"`` from rows without labels.
    takes_row_weights : bool, default=False
        Whether rows may count differently: a row of weight 2 as much as the same row twice.
    several_targets : bool, default=False
        Whether it learns several columns of numbers in one fit.
    free_bias : bool, default=True
        Whether its function has a free constant, so that numbers may be learned less their mean.
    takes_indefinite : bool, default=False
        Whether it also accepts kernels that are not positive semi-definite.
    from_moments : bool, default=False
        Whether on features it needs counts, sums and products per class only, so that it can learn
        from rows that are gone (``partial_fit``).
    """

    on_features: bool = attrs.field(default=False, validator=_FLAG)
    on_gram: bool = attrs.field(default=False, validator=_FLAG)
    tasks: tuple[Task, ...] = attrs.field(default=("two classes",), validator=_TASKS)
    takes_row_weights: bool = attrs.field(default=False, validator=_FLAG)
    several_targets: bool = attrs.field(default=False, validator=_FLAG)
    free_bias: bool = attrs.field(default=True, validator=_FLAG)
    takes_indefinite: bool = attrs.field(default=False, validator=_FLAG)
    from_moments: bool = attrs.field(default=False, validator=_FLAG)

    def __attrs_post_init__(self) -> None:
        if not (self.on_features or self.on_gram):
            raise ValueError("on_features or on_gram must be True: a learner needs one of them")

    def learns_from(self, feature_map: FeatureMapFacts) -> bool:
        """Return whether the learner can use the columns of a feature map."""
        return self.on_features if feature_map.explicit else self.on_gram


@attrs.frozen(kw_only=True)
class CombinerFacts(Facts):
    """The properties of a combiner.

    Attributes
    ----------
    feature_map, learner : str
        The spec strings used where the user gives none.
    weight_range : (low, high), optional
        The range of the weights, where they are not on the simplex (non-negative with sum 1).
    n_kernels : int, optional
        The exact number of kernels that it takes; any number where not given.
    for_learners : tuple of str, default=()
        The names of the learners that it works with; empty for all learners.
    tasks : tuple of str, default=("two classes",)
        What it takes for a target: ``"two classes"``, ``"several classes"`` in one fit,
        ``"numbers"``, or ``"none"``, rows without labels.
    several_targets : bool, default=False
        Whether several columns of numbers can share its kernel weights.
    row_weights : {"refused", "learner", "throughout"}, default="refused"
        Where weights of rows count: nowhere, so that they are refused; in the learner, while kernel
        weights follow from all rows alike; or in the kernel weights too.
    from_moments : bool, default=False
        Whether on features its weights need counts, sums and products per class only, so that they
        can be learned from rows that are gone (``partial_fit``).
    weights_are : {"learned", "fixed", "choice"}, default="learned"
        Where the weights come from: ``"learned"`` from the rows; ``"fixed"`` before any row is
        seen, so that they say nothing about the kernels; ``"choice"`` of one kernel, which has the
        weight 1 whatever the distance to the others.
    """

    feature_map: str = attrs.field(default=FEATURE_MAP, validator=_SPEC)
    learner: str = attrs.field(default=LEARNER, validator=_SPEC)
    weight_range: tuple[float, float] | None = attrs.field(default=None, validator=_RANGE)
    n_kernels: int | None = attrs.field(default=None, validator=_COUNT)
    for_learners: tuple[str, ...] = attrs.field(default=(), validator=_NAMES)
    tasks: tuple[Task, ...] = attrs.field(default=("two classes",), validator=_TASKS)
    several_targets: bool = attrs.field(default=False, validator=_FLAG)
    row_weights: RowWeightsCount = attrs.field(default="refused", validator=_COUNTING)
    from_moments: bool = attrs.field(default=False, validator=_FLAG)
    weights_are: WeightsAre = attrs.field(default="learned", validator=_ORIGIN)


Stated = TypeVar("Stated", bound=Facts)


def facts_of(component: Any, expected: type[Stated]) -> Stated:
    """Return the facts that a component or its class states, or else the default facts.

    Raises
    ------
    SpecError
        If it states none and its kind of facts has no defaults, or if it states another type.

    Examples
    --------
    >>> from mklkit.kernels import Linear
    >>> facts_of(Linear(), KernelFacts).definite
    True
    """
    stated = getattr(component, "facts", None)
    try:
        facts = expected() if stated is None else stated
    except (TypeError, ValueError):  # attrs requires values that have no default
        facts = None
    if not isinstance(facts, expected):
        raise SpecError(
            f"Expected {quoted(component)} to have facts = {expected.__name__}(...);"
            f" got {quoted(stated)}."
        )
    return facts
