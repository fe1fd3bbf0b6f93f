"""Many classes: one against one, and one against the rest, as scikit-learn does them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.preprocessing import StandardScaler

from mklkit import MKLClassifier

PARAMETERS = {
    "svm": {"kernels": ["linear", "rbf"], "combiner": "dimkl3"},
    "mhks": {"kernels": ["linear", "rbf"], "learner": "mhks"},
}
DATA = {
    "iris": load_iris(return_X_y=True),
    "wine": load_wine(return_X_y=True),
    "five digits": tuple(a[load_digits().target < 5][:120] for a in load_digits(return_X_y=True)),
}


@pytest.fixture(params=DATA)
def data(request):
    X, y = DATA[request.param]
    return StandardScaler().fit_transform(X), y


@pytest.mark.parametrize("name", PARAMETERS)
@pytest.mark.parametrize(
    ("multiclass", "wrapper"), [("ovo", OneVsOneClassifier), ("ovr", OneVsRestClassifier)]
)
def test_many_classes_are_those_of_the_wrapped_binary_classifier(data, name, multiclass, wrapper):
    X, y = data
    model = MKLClassifier(**PARAMETERS[name], multiclass=multiclass).fit(X, y)
    peer = wrapper(MKLClassifier(**PARAMETERS[name])).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), peer.decision_function(X), atol=1e-6)
    np.testing.assert_array_equal(model.predict(X), peer.predict(X))
    np.testing.assert_allclose(
        model.weights_, [member.weights_[0] for member in peer.estimators_], rtol=1e-6
    )


def test_problems_are_named_by_their_labels():
    X, y = DATA["iris"]
    labels = np.array(["a", "b", "c"])[y]
    ovo = MKLClassifier("linear").fit(X, labels)
    assert ovo.problems_ == [("a", "b"), ("a", "c"), ("b", "c")]
    ovr = MKLClassifier("linear", multiclass="ovr").fit(X, labels)
    assert ovr.problems_ == [("(rest)", "a"), ("(rest)", "b"), ("(rest)", "c")]
    # Above zero is the second of the pair, in every problem.
    two = MKLClassifier("linear").fit(X[:100], labels[:100])
    assert (two.decision_function(X[50:100]) > 0).all()
    assert (two.predict(X[50:100]) == "b").all()
