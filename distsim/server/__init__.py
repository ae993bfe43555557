"""The server: a web page and a JSON API over an index, tables and a grammar.

`endpoints` says what can be asked, `questions` answers from what `opened` holds, `shelf` opens
anew what has changed on disk, `lanes` keeps work off the loop that talks to visitors, `pages`
and `api` put answers into HTML and JSON, `application` joins them, `run` listens.
"""
