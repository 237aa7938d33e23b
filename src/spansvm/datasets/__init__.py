"""The data sets of the paper, and generators of artificial ones.

``descriptions`` says what the sets are and ``sources`` from which files they are read; ``files``
finds and checks these, ``download`` and ``fetching`` bring them; ``readers`` knows their formats,
``parsing`` what their columns mean; ``loading`` is the face of it all.  ``generators`` has
Breiman's artificial problems.
"""

from .descriptions import Description
from .fetching import fetch
from .files import DataSetError, PublishedFile
from .generators import ringnorm, twonorm, waveform
from .loading import DataSet, describe, load, locate, names

__all__ = [
    "DataSet",
    "DataSetError",
    "Description",
    "PublishedFile",
    "describe",
    "fetch",
    "load",
    "locate",
    "names",
    "ringnorm",
    "twonorm",
    "waveform",
]
