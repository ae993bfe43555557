"""Files of human judgements and a way to measure similarity -> how well the two agree."""
