"""Candidates trained and scored.

``work`` is what is to be done and what came of it, ``evaluator`` works through a chain, ``scored``
scores what it ``trained``, ``dispatch`` sends chains to workers, ``stages`` decides which come
first and when to stop, ``checkpoint`` keeps what is finished; ``forecast`` and ``progress`` tell
how long it takes, ``callbacks`` tell others.
"""
