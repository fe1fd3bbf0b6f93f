"""The interfaces of the parts: component, kernel, feature map, learner, combiner, rows, views.

Each module lists its names that belong to this package in ``__all__``.
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
