"""What arrays of artifacts must be, as their readers declare it."""

import numpy as np
import pytest

from distsim import storage
from distsim.base.errors import ArtifactError
from distsim.storage import StoredArray, start_array

DECLARED = {
    "names": StoredArray(np.uint64, "rows", ascending="strictly"),
    "starts": start_array("rows", "values"),
    "values": StoredArray((np.uint8, np.uint16), below="limit"),
    "pairs": StoredArray(np.int32, "rows", columns=2, least=1),
    "square": StoredArray(np.float32, "rows", columns="rows"),
    "ends": StoredArray(np.uint32, at_most="rows", ascending="weakly", at_open=True),
    "more": StoredArray(np.uint8, "rows", -1, optional=True),
}
GOOD = {
    "names": np.array([1, 5, 9], np.uint64),
    "starts": np.array([0, 2, 2, 4], np.uint64),
    "values": np.array([0, 1, 6, 2], np.uint16),
    "pairs": np.ones((3, 2), np.int32),
    "square": np.zeros((3, 3), np.float32),
    "ends": np.array([3, 3], np.uint32),
}


def written(path, **changed):
    with storage.create(path, storage.BITEXT) as writer:
        for name, values in {**GOOD, **changed}.items():
            writer.add(name, values)
    return storage.Artifact(path)


def test_arrays_as_declared_are_read_without_fault(tmp_path):
    artifact = written(tmp_path / "a", more=np.zeros(2, np.uint8))
    arrays = artifact.arrays(DECLARED, sizes={"limit": 7})
    assert list(arrays) == list(DECLARED) and list(artifact.faults()) == []
    assert "more" not in written(tmp_path / "b").arrays(DECLARED)


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"names": np.array([1, 5], np.uint64)}, "starts has 4 rows or columns, wanted 2"),
        ({"more": np.zeros(3, np.uint8)}, "more has 3 rows or columns, wanted 3"),
        ({"pairs": np.ones((3, 3), np.int32)}, "pairs has 3 columns, wanted 2"),
        ({"square": np.zeros((3, 2), np.float32)}, "square has 2 rows or columns, wanted 3"),
        ({"starts": np.array([0, 3, 2, 4], np.uint64)}, "starts are no starts of the rows of val"),
        ({"starts": np.array([0, 2, 2, 5], np.uint64)}, "starts are no starts of the rows of val"),
        ({"ends": np.array([4], np.uint32)}, "ends has the value 4, wanted less than 4"),
        ({"values": np.zeros(4, np.uint32)}, "'values' is 1-dimensional uint32, wanted"),
        ({"square": np.zeros(3, np.float32)}, "'square' is 1-dimensional float32, wanted 2"),
    ],
)
def test_what_kernels_follow_is_refused_when_it_is_opened(tmp_path, changed, fault):
    artifact = written(tmp_path / "a", **changed)
    with pytest.raises(ArtifactError, match=fault.replace("(", r"\(")):
        artifact.arrays(DECLARED, sizes={"limit": 7})


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"names": np.array([1, 5, 5], np.uint64)}, "names is not in ascending order"),
        (
            {"values": np.array([7, 0, 0, 0], np.uint8)},
            "values has the value 7, wanted less than 7",
        ),
        ({"pairs": np.zeros((3, 2), np.int32)}, "pairs has values below 1"),
    ],
)
def test_other_values_are_faults_that_verify_finds(tmp_path, changed, fault):
    artifact = written(tmp_path / "a", **changed)
    artifact.arrays(DECLARED, sizes={"limit": 7})
    assert list(artifact.faults()) == [fault]
