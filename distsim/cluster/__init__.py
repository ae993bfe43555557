"""Parts of a corpus on many machines -> the table that one machine would make, byte for byte."""
