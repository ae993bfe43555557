"""The server: a web page and a JSON API over an index, tables and a grammar.

`endpoints` lists the questions, `questions` answers them from the artifacts in `session`,
`artifact_cache` reopens artifacts that changed on disk, `worker_queues` runs questions in threads,
`pages` and `api` write HTML and JSON, `run` joins them and listens.
"""
