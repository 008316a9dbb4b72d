"""The notebook of the tutorial runs, and shows the page of its experiment."""

import pathlib

import nbformat
from nbclient import NotebookClient

import partwise  # noqa: F401

ROOT = pathlib.Path(__file__).parents[2]


def test_tutorial(tmp_path):
    notebook = nbformat.read(ROOT / "docs/tutorials/python.ipynb", as_version=4)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": tmp_path}}).execute()
    shown = notebook.cells[-1].outputs[-1]["data"]["text/html"]
    assert shown.startswith("<iframe") and "guided-kmeans" in shown
    assert not list(tmp_path.iterdir())
