#!/bin/sh
# job.sh NAME COUNT ARGUMENT...: runs partwise COUNT times as an indexed job, waits for it, and prints the log of a pod.
set -eu
name=$1 count=$2
shift 2
args=$(printf '"%s", ' "$@")
sed "/^#/d; s|NAME|$name|; s|COUNT|$count|; s|ARGS|${args%, }|" "$(dirname "$0")/job.yaml" | kubectl apply -f - >&2
while :; do
  case $(kubectl get job "partwise-$name" -o 'jsonpath={.status.conditions[?(@.status=="True")].type}') in
  *Complete*) break ;;
  *Failed*) echo "partwise-$name failed: see kubectl logs job/partwise-$name" >&2; exit 1 ;;
  esac
  sleep 2
done
kubectl logs "job/partwise-$name"
kubectl delete job "partwise-$name" >&2
