from distsim.cluster.plan import Division as Division
from distsim.cluster.plan import PlanOptions as PlanOptions
from distsim.cluster.spark import SparkOptions as SparkOptions
from distsim.cluster.spark import sign_on_spark as sign_on_spark
