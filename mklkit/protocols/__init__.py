"""The contracts between the parts: kernel, feature map, learner, combiner, component, preset."""

from mklkit.protocols.contracts import *  # noqa: F403
from mklkit.protocols.coupling import *  # noqa: F403
from mklkit.protocols.searching import *  # noqa: F403
