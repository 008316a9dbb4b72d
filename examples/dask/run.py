"""Runs each line of standard input as a command on a Dask cluster: run.py ADDRESS [COUNT COMMAND...].

With a command, it runs the command for each shard, with {} replaced by 0/COUNT, 1/COUNT, ...
"""

import shlex
import subprocess
import sys

from dask.distributed import Client


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{shlex.join(command)}: {done.stderr.strip()}")


if __name__ == "__main__":
    address, *rest = sys.argv[1:]
    if rest:
        commands = [[word.replace("{}", f"{i}/{rest[0]}") for word in rest[1:]] for i in range(int(rest[0]))]
    else:
        commands = [shlex.split(line) for line in sys.stdin]
    with Client(address) as client:
        client.gather(client.map(run, commands, pure=False, retries=3))
