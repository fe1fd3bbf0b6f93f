"""The contracts between the parts: kernel, feature map, learner, combiner, and what they hand over."""

from mklkit.protocols.contracts import *  # noqa: F403
