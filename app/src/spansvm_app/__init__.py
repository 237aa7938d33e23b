"""The application: ``spansvm tune``, ``predict`` and ``evaluate``, and the report of a search.

``cli`` has the commands, ``tables`` reads data files, ``studies`` asks what a selected model is
worth, ``report`` writes it down.  All of them use public names of :mod:`spansvm` alone.
"""
