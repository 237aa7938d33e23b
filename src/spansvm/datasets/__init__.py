"""The data sets of the paper, and generators of artificial ones.

``catalogue`` says what the sets are and from which files they are read; ``files`` finds, checks and
downloads these; ``reading`` knows their formats and what their columns mean; ``loading`` is the
face of it all.  ``generators`` has Breiman's artificial problems.
"""

from .catalogue import Description
from .files import DataSetError, PublishedFile
from .generators import ringnorm, twonorm, waveform
from .loading import DataSet, describe, fetch, load, locate, names

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
