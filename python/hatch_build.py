"""Puts the program into the wheel as a script, and tags the wheel with its platform and the program's version.

../.ci/wheels sets PARTWISE_PROGRAM to the path of the program, PARTWISE_PLATFORM to the platform tag and
PARTWISE_VERSION to the version that the program prints.
"""

import os
import re

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


def version():
    """Return the version of the program as one of Python, or 0 without a program.

    Releases have one form in both. v1.2.3-0.20260102030405-0a1b2c3d4e5f, a commit before 1.2.3, is
    1.2.3.dev20260102030405+0a1b2c3d4e5f. v1.2.3-0a1b2c3d, a snapshot after 1.2.3, is 1.2.3+0a1b2c3d.
    """
    text = os.environ.get("PARTWISE_VERSION", "").removeprefix("v")
    text = re.sub(r"[-.](?:0\.)?(\d{14})-", r".dev\1+", text)
    text = re.sub(r"-([0-9a-f]{7,40})$", r"+\1", text)
    release, _, local = text.partition("+")
    return "+".join(filter(None, (release, local.replace("+", ".")))) if text[:1].isdigit() else "0"


class ProgramHook(BuildHookInterface):
    def initialize(self, version, build_data):
        program = os.environ.get("PARTWISE_PROGRAM")
        if version == "editable" or not program:
            return  # the program comes from PARTWISE_BINARY or the PATH
        os.chmod(program, 0o755)
        build_data["shared_scripts"][program] = "partwise.exe" if os.environ["PARTWISE_PLATFORM"].startswith("win") else "partwise"
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-" + os.environ["PARTWISE_PLATFORM"]
