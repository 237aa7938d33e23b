"""The paper's six experiments on its 14 data sets, beside its own numbers.

``python -m reproduction`` runs them; it needs the repository, as nothing here is installed.
``problems`` says what is trained, ``trials`` and ``timing`` do it, ``store`` keeps what comes out
and ``runner`` runs it all.  ``complete`` reads the store; each experiment has a module that reduces
it to small tables, of which ``page`` makes the page.
"""
