"""Learns NMF from a sample of vectors in Parquet, and writes the coefficients of all: assign.py VECTORS RANK OUT.

The column "id" has a name for each vector, and "features" an array of numbers.
"""

import sys

import numpy as np
import pandas as pd
from pyspark.sql import SparkSession

import partwise

SAMPLE = 10_000


def main(vectors, rank, out):
    spark = SparkSession.builder.appName("partwise").getOrCreate()
    rows = spark.read.parquet(vectors)
    # The rows with the smallest hashes are the same sample on any cluster.
    sample = rows.selectExpr("*", "xxhash64(id) AS hash").orderBy("hash", "id").limit(SAMPLE).toPandas().sort_values("id")
    model = partwise.NMF(rank, random_state=0).fit(np.vstack(sample["features"]))
    shared = spark.sparkContext.broadcast(model)

    def codes(batches):
        for batch in batches:
            yield pd.DataFrame({"id": batch["id"], "codes": list(shared.value.transform(np.vstack(batch["features"])))})

    rows.select("id", "features").mapInPandas(codes, "id string, codes array<double>").write.parquet(out)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
