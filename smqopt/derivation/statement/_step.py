"""One step of a derivation."""

from __future__ import annotations

from dataclasses import dataclass

from smqopt.algebra import Equation, Verdict, worst


@dataclass(frozen=True)
class Step:
    """A claim, its statements, the reason, and the verdict; reports add nothing."""

    name: str
    """What code and links call the step."""
    title: str
    claim: str
    """What is claimed, in a sentence or two."""
    reason: str
    """Why it holds."""
    labels: tuple[str, ...]
    """The paper's equation labels, and rows of the errata, that the step rests on or corrects."""
    equations: tuple[Equation, ...]
    note: str = ""
    """What is missing, and why; empty where nothing is."""
    open: bool = False
    """Whether something that the step should give could not be found."""

    @property
    def claims(self) -> tuple[Equation, ...]:
        """The statements that have a verdict."""
        return tuple(equation for equation in self.equations if equation.verdict is not None)

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of the claims; undecided where something is missing."""
        found = [equation.verdict for equation in self.claims if equation.verdict is not None]
        return worst([*found, Verdict.UNDECIDED] if self.open else found)

    @property
    def method(self) -> str:
        """How the verdict was reached: the methods of the claims, each once."""
        return "; ".join(dict.fromkeys(equation.method for equation in self.claims))
