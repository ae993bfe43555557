from distsim.output.exporting import export as export
from distsim.output.exporting import word_vectors as word_vectors
from distsim.output.verification import find_faults as find_faults
