"""Reads and writes artifact folders and single files: manifests, memory maps, checks, locks.

An artifact is a folder of raw little-endian arrays and a `manifest.json` that names each
with its dtype, shape, size and checksum. File names carry a piece of the checksum, so a
folder can hold an old and a new state side by side; the manifest, replaced in one step,
decides which of them is the artifact. Nothing in it is ever unpickled or run.
"""

from distsim.storage.files import (
    GZ_LEVEL,
    MANIFEST,
    STANDARD_OUTPUT,
    LineWriter,
    open_output,
)
from distsim.storage.folders import scratch_folder
from distsim.storage.manifest import (
    BITEXT,
    FINDER,
    GRAMMAR,
    INDEX,
    KINDS,
    MAP,
    PROJECTION,
    RULES,
    SIGNATURES,
    ArtifactKind,
    RunningChecksum,
    checksum_of_array,
    checksum_of_settings,
    stored_count,
)
from distsim.storage.reading import Artifact, StoredArray, cut_short, start_array, understood
from distsim.storage.resumption import (
    FinishedPart,
    FinishedTasks,
    ResumableLines,
    is_finished,
    resumable_lines,
    resumable_part,
)
from distsim.storage.writing import (
    ArrayStream,
    ArtifactWriter,
    change,
    create,
    holds_artifact,
    keeps_pieces,
    remove_artifact,
    require_free,
)
