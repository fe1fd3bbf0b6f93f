"""The contracts between the parts: kernel, feature map, learner, combiner, component, preset."""

from mklkit.protocols.contracts import *  # noqa: F403
