"""The paper's data sets, and generators of artificial ones.

``catalogue`` describes the data sets and their files; ``files`` finds, checks and downloads them;
``reading`` knows their formats and what their columns mean; ``loading`` is the public interface.
``generators`` has Breiman's artificial problems.
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
