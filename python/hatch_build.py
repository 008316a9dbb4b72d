"""Puts the program into the wheel and tags the wheel with its platform.

PARTWISE_PROGRAM is the path of the program and PARTWISE_PLATFORM the platform tag; ../.ci/wheels sets both.
"""

import os

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ProgramHook(BuildHookInterface):
    def initialize(self, version, build_data):
        program = os.environ.get("PARTWISE_PROGRAM")
        if version == "editable" or not program:
            return  # the program comes from PARTWISE_BINARY or the PATH
        os.chmod(program, 0o755)  # pip keeps the bit in the archive
        name = "partwise.exe" if os.environ["PARTWISE_PLATFORM"].startswith("win") else "partwise"
        build_data["force_include"][program] = f"partwise/_bin/{name}"
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-" + os.environ["PARTWISE_PLATFORM"]
