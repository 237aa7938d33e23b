"""The paper's six experiments on its 14 data sets, next to its own numbers.

``python -m reproduction`` runs them; it needs the repository, since nothing here is installed.
``problems`` defines what is trained, ``trials`` and ``timing`` train and time it, ``store`` keeps
the results and ``runner`` runs it all.  ``complete`` reads the store; one module per experiment
reduces it to small tables, from which ``page`` writes the page.  ``datasets`` has the data sets.
"""
