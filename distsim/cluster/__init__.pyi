from distsim.cluster.spark import sign_on_spark as sign_on_spark
