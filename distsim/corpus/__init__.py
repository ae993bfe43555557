"""Files -> sentences -> token ids."""
