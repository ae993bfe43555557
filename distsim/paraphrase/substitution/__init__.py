"""A word or phrase in its sentence -> what may stand there instead."""
