"""A phrase, an index -> paraphrases on the fly; paraphrases, a phrase table -> a larger one."""
