"""Templates for four kinds of combiner, each with one method to implement.

The templates also provide ``grid_parameters`` and ``fit_grid`` for searches. Weightings vary the
learner's parameters on one weighted sum for each set of weights: ``LearnedWeighting.prepare``
returns weights and learner, and weights that do not depend on the learner are computed once.
Couplings vary their own parameters and the learner's ``variants``. A coupled learner provides,
besides ``fit``, the *subproblem* of a view, a least-squares fit to given targets. A coupling
combiner solves it repeatedly and uses nothing else, so that any such learner can be coupled, on
features or on Gram matrices. A subproblem has a column for each variant of its learner, so that a
combiner fits a whole grid of parameters on the same views at once; ``CouplingTraits.variants``
names the parameters in which variants may differ.
"""
