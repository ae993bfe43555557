from distsim.cluster.annotation import annotate_on_spark as annotate_on_spark
from distsim.cluster.plan import Division as Division
from distsim.cluster.plan import PlanOptions as PlanOptions
from distsim.cluster.spark import sign_on_spark as sign_on_spark
from distsim.cluster.spark_session import SparkOptions as SparkOptions
