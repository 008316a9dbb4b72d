"""The command partwise: the program with all of its commands."""

import os
import subprocess
import sys

from ._program import binary


def main():
    """Run the program with the arguments of the command line."""
    args = [binary(), *sys.argv[1:]]
    if os.name == "nt":
        sys.exit(subprocess.call(args))
    os.execv(args[0], args)


if __name__ == "__main__":
    main()
