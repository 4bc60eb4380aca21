"""The folder of what may be published of a release.

A note in the other folder points to it.
"""

from __future__ import annotations

from pathlib import Path

from smqopt.files import write_bytes, write_json, write_text
from smqopt.market import Solution
from smqopt.query import Answer
from smqopt.verification import CERTIFICATE_FILE

PUBLIC_FOLDER = "public"
RELEASE_FILE = "release.json"
PRIVATE_NOTE = "PRIVATE.txt"
PUBLIC_NOTE = "PUBLIC.txt"
_PRIVATE = """\
This folder is the broker's. Do not publish it: outcome.csv names who sold, and the total paid in
report.html, or the unrounded figures of answer.json, tell it to whoever knows the thresholds.
What may be published stands in the folder public.
"""
_PUBLIC = """\
This folder may be published: thresholds and certificate, which were fixed before anybody reported,
and release.json, whose figures are rounded to a grid that does not depend on who sold.
"""


def write_public(folder: Path, solution: Solution, answer: Answer) -> None:
    """Write what may be published of a release beside what may not.

    Of a simulation, nothing; an earlier release is no longer that of the answer.
    """
    public = folder / PUBLIC_FOLDER
    if answer.simulation:
        (public / RELEASE_FILE).unlink(missing_ok=True)
        return
    public.mkdir(exist_ok=True)
    solution.save(public)
    write_bytes(public / CERTIFICATE_FILE, (folder / CERTIFICATE_FILE).read_bytes())
    write_json(public / RELEASE_FILE, answer.publish())
    write_text(public / PUBLIC_NOTE, _PUBLIC)
    write_text(folder / PRIVATE_NOTE, _PRIVATE)
