"""An index, perhaps its table and a grammar -> a page to look at and answers in JSON.

`endpoints` says what can be asked, `questions` answers from what `opened` holds, `shelf` opens
anew what has changed on disk, `lanes` keeps work off the loop that talks to visitors, `pages`
and `api` put answers into HTML and JSON, `application` joins them, `run` listens.
"""
