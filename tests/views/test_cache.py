"""One budget for all quantities: what is kept, made once, dropped, and made again."""

from __future__ import annotations

import gc
from threading import Barrier, Thread
from typing import Any

import numpy as np
import pytest
from helpers.builders import views_of

from mklkit import MKLClassifier, MKLSearchCV
from mklkit.views.cache import Cache, Quantities


@pytest.fixture
def small() -> Cache:
    cache = Cache("1MB")
    cache.budget = 1000
    return cache


def test_the_least_recently_used_is_dropped_first(small: Cache) -> None:
    for name in ("first", "second", "third"):
        small.of(name, lambda: np.zeros(40))
    small.of("first", pytest.fail)
    small.of("fourth", lambda: np.zeros(40))
    assert [name for name in ("first", "second", "third", "fourth") if name in small] == [
        "first",
        "third",
        "fourth",
    ]
    assert small.nbytes == 3 * 320
    assert small.of("second", lambda: "again") == "again"


def test_the_latest_is_kept_even_if_it_is_larger_than_the_budget(small: Cache) -> None:
    small.of("small", lambda: np.zeros(4))
    small.of("large", lambda: np.zeros(1000))
    assert small.of("large", pytest.fail).size == 1000
    assert "small" not in small
    assert small.nbytes == 8000


@pytest.mark.process
def test_quantities_go_with_their_object(small: Cache) -> None:
    class Owner:
        pass

    owner, other = Owner(), Owner()
    for each in (owner, other):
        Quantities(small, each).keep("gram", np.zeros(10))
    assert small.nbytes == 160
    del owner
    gc.collect()
    assert small.nbytes == 80


def test_threads_that_want_the_same_wait_for_the_one_that_makes_it() -> None:
    cache, begin, made, got = Cache(), Barrier(4), [], []

    def make() -> Any:
        made.append(np.random.default_rng(0).normal(size=(300, 300)) @ np.ones(300))
        return made[-1]

    def work() -> None:
        begin.wait()
        got.append(cache.of("key", make))

    threads = [Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert all(value is made[0] for value in got)


def test_what_fails_is_tried_again(small: Cache) -> None:
    with pytest.raises(ZeroDivisionError):
        small.of("key", lambda: 1 / 0)
    assert small.of("key", lambda: 2) == 2


@pytest.mark.parametrize("feature_map", ["implicit", "empirical(subset=9)"])
def test_views_that_lose_what_they_computed_compute_it_again(
    rng: np.random.Generator, feature_map: str
) -> None:
    X = rng.normal(size=(60, 4))
    y = np.where(X[:, 0] > 0, 1.0, -1.0)

    def quantities(views: Any) -> list[Any]:
        side = views.weighted(np.array([0.3, 0.7]))
        sums = [np.asarray(part) for part in (side.gram(), side.spectrum().values)]
        first = views[0]
        alone = [first.gram(), first.label_alignment(y), first.quadrants(y).between.mean]
        if views.explicit:
            alone += [first.normal_matrix().products, views[1].project_back(y)]
        return [*sums, *alone]

    roomy, tight = (views_of(["rbf", "linear"], X, feature_map) for _ in range(2))
    tight.cache.budget = 0
    for _ in range(2):
        for kept, again in zip(quantities(roomy), quantities(tight), strict=True):
            np.testing.assert_array_equal(kept, again)
    assert tight.cache.nbytes < roomy.cache.nbytes / 2


def test_a_search_in_little_memory_gives_the_same_scores(rng: np.random.Generator) -> None:
    X = rng.normal(size=(90, 40))
    y = (X[:, 0] + rng.normal(size=90) > 0).astype(int)
    grid = {"combiner": ["uniform", "alignment", "ifsl"], "learner__alpha": [0.1, 1.0]}
    model = MKLClassifier(["rbf", "linear"], learner="kmhks", random_state=0)
    results = []
    for budget in (None, 0, 100_000):
        cache = Cache()
        cache.budget = cache.budget if budget is None else budget
        search = MKLSearchCV(model, grid, cv=3).fit_sharing(cache, X, y)
        results.append(search.cv_results_["mean_test_score"])
        assert budget is None or cache.nbytes <= max(budget, 90 * 90 * 8 * 2)
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_allclose(results[0], results[2])
