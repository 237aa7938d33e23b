"""Names of attributes, listed without computing them."""

from __future__ import annotations

from functools import cached_property
from inspect import getattr_static

__all__ = ["ListsProperties"]


class ListsProperties:
    """Estimators whose properties are costly.

    From version 1.9 on, scikit-learn's ``__dir__`` looks at the value of every attribute, which
    would compute leave-one-out values and corrected scores whenever names are completed.
    """

    def __dir__(self) -> list[str]:
        kind = type(self)
        return [
            name
            for name in object.__dir__(self)
            if isinstance(getattr_static(kind, name, None), (property, cached_property))
            or hasattr(self, name)
        ]
