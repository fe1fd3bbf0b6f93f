"""From components to scikit-learn estimators."""
