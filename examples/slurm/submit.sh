#!/bin/sh
# Submits features, learning and assignment as three jobs, each after the one before.
set -eu
cd "$(dirname "$0")"
export DATA="${DATA:?the folder of photos}" OUT="${OUT:?a folder that all nodes share}" K="${K:-100}" PASSES="${PASSES:-30}" FEATURES="${FEATURES:-network=lite0}"
shards="${SHARDS:-64}"
features=$(sbatch --parsable --array="0-$((shards - 1))" features.sbatch)
learn=$(sbatch --parsable --dependency="afterok:$features" --ntasks="$shards" learn.sbatch)
sbatch --parsable --dependency="afterok:$learn" --array="0-$((shards - 1))" assign.sbatch
