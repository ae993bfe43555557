from distsim.base.errors import ArtifactError as ArtifactError
from distsim.base.errors import DistsimError as DistsimError
from distsim.base.errors import EarlierVersionWarning as EarlierVersionWarning
from distsim.base.errors import IncompatibleError as IncompatibleError
from distsim.base.errors import InputError as InputError
from distsim.base.errors import ParameterError as ParameterError
from distsim.base.results import Results as Results
from distsim.base.results import to_frame as to_frame
