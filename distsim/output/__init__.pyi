from distsim.output.exporting import export as export
from distsim.output.exporting import word_vectors as word_vectors
from distsim.output.pictures.contexts import context_picture as context_picture
from distsim.output.pictures.contexts import contrast_picture as contrast_picture
from distsim.output.pictures.phrase_map import neighbour_picture as neighbour_picture
from distsim.output.verification import find_faults as find_faults
