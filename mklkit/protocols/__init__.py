"""The interfaces of the parts: component, kernel, feature map, learner, combiner, rows, views.

Each module lists its names that belong to this package in ``__all__``.

Each kind of component has a base class, and another one for the result of its ``fit``. One method
must be written. The others have defaults, and overriding them saves work
(``FittedMap.training_features``, ``Learner.subproblem``, ``Combiner.prepare``, through which
``MKLTransformer`` gets weights alone). What a component returns is checked where the library takes
it (``results.py``): fitted objects derive from their bases, and a fitted kernel, map or learner is
tried on three samples. A result of another class or shape is a ``ComponentError``, which names the
component.

Components are frozen ``attrs`` classes with validated parameters and no state. ``fit`` returns a
separate fitted object, so that nothing is ever partly fitted, and folds and threads can share a
component. ``Component`` adds ``get_params`` and ``with_params``, which returns a changed copy;
through them, ``GridSearchCV`` sets ``combiner__power`` or ``kernels__rbf__sigma``.

A combiner's traits name its default feature map and learner, which are used (and reported) if the
user names none. A learner's traits state whether it learns ``on_features``, ``on_gram`` or both;
impossible pairs raise an error that names those that work (``registry/composing.py``).
``one_hot_classes`` declares that several classes are one-hot targets of one system;
``multiclass="auto"`` then makes one problem of them, provided that the combiner learns several
classes too.
"""

from mklkit.protocols.combiner import *  # noqa: F403
from mklkit.protocols.component import *  # noqa: F403
from mklkit.protocols.kernel import *  # noqa: F403
from mklkit.protocols.learner import *  # noqa: F403
from mklkit.protocols.missing import *  # noqa: F403
from mklkit.protocols.missing_sources import *  # noqa: F403
from mklkit.protocols.results import *  # noqa: F403
from mklkit.protocols.rows import *  # noqa: F403
from mklkit.protocols.schema import *  # noqa: F403
from mklkit.protocols.score import *  # noqa: F403
from mklkit.protocols.target import *  # noqa: F403
from mklkit.protocols.target_kind import *  # noqa: F403
from mklkit.protocols.task import *  # noqa: F403
from mklkit.protocols.views import *  # noqa: F403
