"""The legend: one meaning a letter, and the name that stands for it in code.

The letters are the paper's.

Letters are those of Zhang, Beltran and Liu (2020), *Selling Data at an Auction under Privacy
Constraints*, UAI. Code may use them inside a formula; at the door stands the word.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LEGEND", "PAPER", "Letter", "Paper", "letter"]


@dataclass(frozen=True)
class Letter:
    """One letter of the legend."""

    name: str
    """The word that stands for the letter in code."""
    latex: str
    """The letter as LaTeX."""
    meaning: str
    """What it means, in a line."""
    unit: str
    """Its unit: currency, privacy (units of ε), probability, or none."""
    label: str = ""
    """The paper's equation label or section."""


@dataclass(frozen=True)
class Paper:
    """A conference paper, cited in prose."""

    authors: tuple[str, ...]
    title: str
    venue: str
    year: int

    @property
    def names(self) -> str:
        """The authors, as a sentence names them."""
        return f"{', '.join(self.authors[:-1])} and {self.authors[-1]}"

    @property
    def credit(self) -> str:
        """Whose letters a page writes, as a sentence."""
        return f"Letters are those of {self.names}, {self.title}, {self.venue} {self.year}."


PAPER = Paper(
    authors=("Mengxiao Zhang", "Fernando Beltran", "Jiamou Liu"),
    title="Selling Data at an Auction under Privacy Constraints",
    venue="UAI",
    year=2020,
)
"""The paper that the mechanism and the letters come from: the one source of its citation."""


LEGEND: tuple[Letter, ...] = (
    Letter("owners", "n", "number of data owners", "none", "sec:prelim"),
    Letter("epsilon", r"\varepsilon_i", "privacy requirement of owner i", "privacy", "A3"),
    Letter("valuation", r"\theta_i", "private valuation of owner i, θ_i ~ F_i", "currency", "A1"),
    Letter("low", r"\underline{\theta}_i", "low end of the support of θ_i", "currency", "A1"),
    Letter("high", r"\overline{\theta}_i", "high end of the support of θ_i", "currency", "A1"),
    Letter("cdf", "F_i", "distribution function of θ_i", "probability", "A2"),
    Letter("pdf", "f_i", "density of θ_i", "1/currency", "A2"),
    Letter("virtual_cost", "J_i", "virtual cost θ + F(θ)/f(θ)", "currency", "Appendix D"),
    Letter("threshold", r"\theta_i^*", "take-it-or-leave-it price of owner i", "currency", "qi"),
    Letter("acceptance", "q_i", "probability F_i(θ_i*) that owner i sells", "probability", "qi"),
    Letter("spend", "B_i", "expected payment θ_i* F_i(θ_i*)", "currency", "Appendix D"),
    Letter("cost_curve", "C_i", "expected payment as a function of acceptance, q F⁻¹(q)", "currency", "Appendix D"),
    Letter("budget", "B", "budget of the broker", "currency", "eqn:BF"),
    Letter(
        "budget_price",
        r"\lambda",
        "multiplier of the budget: privacy bought per unit of currency",
        "privacy/currency",
        "KKT",
    ),
    Letter("price_ratio", "x_i", "ε_i/λ, the virtual cost at which owner i is bought", "currency", "eqn:first order"),
    Letter("lower_multiplier", r"\mu_i", "multiplier of acceptance ≥ 0, (λJ − ε)₊", "privacy", "KKT"),
    Letter("upper_multiplier", r"\gamma_i", "multiplier of acceptance ≤ 1, (ε − λJ)₊", "privacy", "KKT"),
    Letter(
        "purchased_privacy", r"\sum_i \varepsilon_i F_i(\theta_i^*)", "expected purchased privacy", "privacy", "OP2"
    ),
    Letter("multiplicity", "m_i", "number of alike owners a row stands for", "none"),
    Letter("report", r"\psi_i", "reported valuation of owner i", "currency", "qi"),
    Letter("payment", "p_i", "payment to owner i", "currency", "pi"),
    Letter("data", "d_i", "data entry of owner i", "the data's", "sec:prelim"),
    Letter("query", r"\varphi", "the query", "the answer's", "sec:prelim"),
    Letter(
        "score",
        r"\sigma_\varphi(d, r)",
        "score of result r: minus the least ε that must change",
        "privacy",
        "sec:prelim",
    ),
)


def letter(name: str) -> Letter:
    r"""Look a letter up by the word that stands for it.

    Examples
    --------
    >>> letter("budget_price").latex
    '\\lambda'
    """
    return {entry.name: entry for entry in LEGEND}[name]
