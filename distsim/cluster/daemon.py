"""The process from which Spark forks Python workers; modules are imported once an executor.

Spark starts `pyspark.daemon` otherwise, and each worker imports numpy and numba for itself.
"""

import distsim.cluster.stages  # noqa: F401 (the workers' tasks)


def main() -> None:
    """Fork workers until Spark ends, with all modules imported."""
    from pyspark import daemon

    daemon.manager()


if __name__ == "__main__":
    main()
