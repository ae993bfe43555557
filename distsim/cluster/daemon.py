"""What Spark forks its Python workers from: what tasks need is imported once an executor.

Spark starts `pyspark.daemon` otherwise, and each worker imports numpy and numba for itself.
"""

from pyspark import daemon

import distsim.cluster.stages  # noqa: F401 (the workers' tasks)

if __name__ == "__main__":
    daemon.manager()
