"""What Spark forks its Python workers from: what tasks need is imported once an executor.

Spark starts `pyspark.daemon` otherwise, and each worker imports numpy and numba for itself.
"""

import distsim.cluster.stages  # noqa: F401 (the workers' tasks)


def main() -> None:
    """Fork workers until Spark ends, with what they need already there."""
    from pyspark import daemon

    daemon.manager()


if __name__ == "__main__":
    main()
