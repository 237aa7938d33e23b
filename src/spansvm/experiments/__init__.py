"""The paper's six experiments on its 14 data sets, beside its own numbers.

``problems`` says what is trained, ``trials`` and ``timing`` do it, ``store`` keeps what comes out
and ``runner`` runs it all.  ``summaries`` reduces the store to small tables; each experiment has a
module that reads them.
"""
