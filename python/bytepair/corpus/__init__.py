"""Corpora: paths and texts in, what a counter can read out.

`files` finds the files behind paths, directories and globs; `readers` unpacks them; `tables` takes
the texts out of JSON lines, Parquet and Arrow.
"""
