"""Estimators that choose their own hyperparameters: ``SVCCV`` and ``SVRCV``.

``planned`` is the search without a grid, ``base`` what both estimators share, ``plans`` what they
search.
"""
