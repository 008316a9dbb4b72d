#!/bin/sh
# Computes features, learns k-means in passes and assigns groups, each step as a job.
set -eu
job="sh $(dirname "$0")/job.sh" n=${SHARDS:-64} k=${K:-100} passes=${PASSES:-30}
shard="\$(JOB_COMPLETION_INDEX)/$n" # Kubernetes replaces it
$job features "$n" features "${DATA:-photos}" --features "${FEATURES:-network=lite0}" --float32 --shard "$shard" --out features
$job start 1 cluster features -k "$k" --passes 0 --out step0.npz
i=${START:-0} converged=
while [ "$i" -lt "$((passes + 6))" ] && [ -z "$converged" ]; do # k-means|| takes 6 passes
  $job "pass$i" "$n" pass "step$i.npz" features --shard "$shard" --out sums
  said=$($job "merge$i" 1 merge "step$i.npz" sums --force --out "step$((i + 1)).npz")
  echo "$said"
  case $said in *converged*) converged=yes ;; esac
  i=$((i + 1))
done
$job assign "$n" assign "step$i.npz" features --shard "$shard" --out groups
