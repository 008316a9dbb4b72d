"""Runs the program partwise and exchanges arrays with it over files in a temporary folder."""

import contextlib
import functools
import io
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
import zipfile
from importlib import metadata
from numbers import Integral

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning


def binary():
    """Return the path of the program: $PARTWISE_BINARY, else the script of this package, else the one on the PATH."""
    path = os.environ.get("PARTWISE_BINARY") or _script() or shutil.which("partwise")
    if not path or not os.path.exists(path):
        raise FileNotFoundError(f"the program partwise was not found{f' at {path}' if path else ''}; install a wheel of partwise, or set PARTWISE_BINARY")
    return path


@functools.cache
def _script():
    with contextlib.suppress(metadata.PackageNotFoundError):
        for file in metadata.files("partwise") or ():
            if file.name in ("partwise", "partwise.exe"):
                return os.path.normpath(file.locate())
    return None


def cores():
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def threads(n_jobs=None):
    """Return the number of threads of the program.

    By default it is the number of cores. In a worker of joblib it is the worker's share of the cores, which joblib
    announces in OMP_NUM_THREADS, and in another child process of Python 1. A negative n_jobs counts back from the
    number of cores, -1.
    """
    if n_jobs is not None:
        if not isinstance(n_jobs, Integral) or n_jobs == 0:
            raise ValueError(f"n_jobs={n_jobs!r}: expected a number of threads, or -1 for all cores")
        return n_jobs if n_jobs > 0 else max(1, cores() + 1 + n_jobs)
    if multiprocessing.parent_process() is None and "LOKY_PARENT_PID" not in os.environ and not _in_loky():
        return cores()
    share = os.environ.get("OMP_NUM_THREADS", "")
    return min(cores(), int(share)) if share.isdigit() and int(share) > 0 else 1


def _in_loky():
    return multiprocessing.current_process().name.startswith("LokyProcess")


def run(*args, verbose=0, n_jobs=None):
    """Run a command of the program and return what it prints.

    An error of the program becomes a ValueError. Its remarks become warnings. verbose shows its progress. An interrupt
    ends the program as well.
    """
    env = {"GOMAXPROCS": str(threads(n_jobs)), **os.environ}
    if n_jobs is not None:
        env["GOMAXPROCS"] = str(threads(n_jobs))
    read, write = _terminal() if verbose else os.pipe()
    said = io.BytesIO()
    with tempfile.TemporaryFile() as out:
        try:
            child = subprocess.Popen([binary(), *map(str, args)], stdin=subprocess.DEVNULL, stdout=out, stderr=write, env=env)
        except BaseException:
            os.close(read)
            raise
        finally:
            os.close(write)
        try:
            # A pseudo-terminal ends with an OSError.
            with contextlib.suppress(OSError):
                while text := os.read(read, 1 << 16):
                    said.write(text)
                    if verbose:
                        sys.stderr.write(text.decode(errors="replace"))
                        sys.stderr.flush()
            child.wait()
        except BaseException:
            child.terminate()
            try:
                child.wait(5)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
            raise
        finally:
            os.close(read)
        out.seek(0)
        text = out.read().decode(errors="replace")
    lines = re.sub(r"\S*[/\\]partwise-\w{8}[/\\]", "", said.getvalue().decode(errors="replace")).replace("\r", "\n").split("\n")
    remarks = [line.removeprefix("partwise: ") for line in lines if line.startswith("partwise: ")]
    if child.returncode != 0:
        # The hint to the help of the command is of no use here.
        raise ValueError(re.sub(r" \(usage: .*\)$", "", remarks[-1]) if remarks else f"partwise ended with exit status {child.returncode}: {said.getvalue()!r}")
    frame, level = sys._getframe(), 1
    while frame and frame.f_globals.get("__name__", "").split(".")[0] in ("partwise", "sklearn"):
        frame, level = frame.f_back, level + 1
    for remark in remarks:
        warnings.warn(remark, ConvergenceWarning if "did not converge" in remark else UserWarning, stacklevel=level)
    return text


def _terminal():
    """Return both ends of a pseudo-terminal, to which the program draws its progress, or of a pipe on Windows."""
    try:
        import pty

        return pty.openpty()
    except (ImportError, OSError):
        return os.pipe()


class Folder:
    """A temporary folder for arrays of up to size bytes, in memory where Linux has room for them."""

    def __init__(self, size=0):
        memory, parent = "/dev/shm", None
        with contextlib.suppress(OSError):
            if os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 2 * size + (64 << 20):
                parent = memory
        # On Windows a file that is mapped cannot be removed.
        self._dir = tempfile.TemporaryDirectory(prefix="partwise-", dir=parent, ignore_cleanup_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._dir.cleanup()

    def path(self, name):
        return os.path.join(self._dir.name, name)

    def put(self, x):
        """Write samples and return the path: .npy, or .npz for a sparse matrix in CSR format."""
        if sparse.issparse(x):
            path = self.path("X.npz")
            sparse.save_npz(path, x, compressed=False)
        else:
            path = self.path("X.npy")
            np.save(path, x)
        return path

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)


_MAPPED = 1 << 22  # bytes from which an array is mapped into memory


def load(path, skip=()):
    """Return the arrays of an .npz file. Large ones that are not compressed are mapped into memory, except on Windows."""
    arrays = {}
    with zipfile.ZipFile(path) as archive, open(path, "rb") as raw:
        for info in archive.infolist():
            name = info.filename.removesuffix(".npy")
            if name in skip:
                continue
            if info.compress_type == zipfile.ZIP_STORED and info.file_size >= _MAPPED and os.name != "nt":
                arrays[name] = _mapped(path, raw, info)
            else:
                with archive.open(info) as member:
                    arrays[name] = np.lib.format.read_array(member)
    return arrays


def _mapped(path, raw, info):
    raw.seek(info.header_offset + 26)  # of the lengths of the name and of the extra field
    name, extra = np.frombuffer(raw.read(4), "<u2").tolist()
    raw.seek(info.header_offset + 30 + name + extra)
    version = np.lib.format.read_magic(raw)
    header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, fortran, dtype = header(raw)
    order = "F" if fortran else "C"
    return np.memmap(path, dtype, "c", raw.tell(), shape, order).view(np.ndarray)
