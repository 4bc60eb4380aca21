"""Write the reference optima of OP2, from its definition alone, with mpmath: nothing of smqopt is used.

    python tests/reference/make_op2.py > tests/reference/op2.json

The optimum, at a budget price λ, accepts each owner up to the θ where her virtual cost J(θ) = θ + F(θ)/f(θ) equals ε/λ, or the nearer end
of her support; λ is the price at which Σ θ F(θ) is the budget, and 0 if the budget is never spent. Both are found by bisection.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

import mpmath
from mpmath import mpf

DIGITS, WORKING_DIGITS = 20, 40
ZERO, ONE = mpf(0), mpf(1)
HALVINGS = 150
"""Enough for the working digits and ten to spare."""


@dataclass(frozen=True)
class Law:
    low: mpf
    high: mpf
    cdf: Callable[[mpf], mpf]
    pdf: Callable[[mpf], mpf]

    def virtual_cost(self, theta: mpf) -> mpf:
        return theta + self.cdf(theta) / self.pdf(theta)

    def threshold(self, cost: mpf) -> mpf:
        """Return the θ at which the virtual cost, which increases, reaches a number."""
        if cost <= self.low:  # J is the low end of the support there, in all laws below
            return self.low
        return bisect(lambda theta: self.virtual_cost(theta) < cost, self.low, self.high)


def uniform(low: mpf, high: mpf) -> Law:
    return Law(low, high, lambda t: (t - low) / (high - low), lambda _: 1 / (high - low))


def power(k: mpf) -> Law:
    return Law(ZERO, ONE, lambda t: t**k, lambda t: k * t ** (k - 1))


def truncexp(r: mpf, low: mpf = ZERO, high: mpf = ONE) -> Law:
    mass = 1 - mpmath.exp(-r * (high - low))
    return Law(
        low, high, lambda t: (1 - mpmath.exp(-r * (t - low))) / mass, lambda t: r * mpmath.exp(-r * (t - low)) / mass
    )


def beta23() -> Law:
    return Law(ZERO, ONE, lambda t: 6 * t**2 - 8 * t**3 + 3 * t**4, lambda t: 12 * t * (1 - t) ** 2)


def kumaraswamy(p: mpf, q: mpf) -> Law:
    return Law(ZERO, ONE, lambda t: 1 - (1 - t**p) ** q, lambda t: p * q * t ** (p - 1) * (1 - t**p) ** (q - 1))


LAWS = {"uniform": uniform, "power": power, "truncexp": truncexp, "beta23": beta23, "kumaraswamy": kumaraswamy}
FOUR, UNIT = ["0.1", "0.4", "0.7", "1"], [["uniform", "0", "1"]]
INSTANCES = [
    ("uniform", UNIT, ["0.2", "0.5", "1"], "0.5"),
    ("uniform, one owner at the cap", UNIT, ["0.2", "0.5", "1"], "2"),
    ("uniform, slack budget", UNIT, ["0.2", "0.5", "1"], "3"),
    ("uniform, an owner with no privacy to sell", UNIT, ["0", "0.2", "0.5", "1"], "0.5"),
    ("uniform on [1,2], one owner out", [["uniform", "1", "2"]], FOUR, "2"),
    ("power 2", [["power", "2"]], FOUR, "1.2"),
    ("power 1/2", [["power", "0.5"]], FOUR, "1.2"),
    ("truncated exponential, rate 2", [["truncexp", "2"]], FOUR, "1.2"),
    ("truncated exponential, rate 3 on [0.5,2], one owner out", [["truncexp", "3", "0.5", "2"]], FOUR, "1.2"),
    ("beta(2,3)", [["beta23"]], FOUR, "1.2"),
    ("kumaraswamy(2,3)", [["kumaraswamy", "2", "3"]], FOUR, "1.2"),
    (
        "four different valuations",
        [["uniform", "0", "1"], ["uniform", "1", "2"], ["power", "2"], ["truncexp", "2"]],
        ["0.3", "0.9", "0.6", "1"],
        "1",
    ),
]


def bisect(is_below: Callable[[mpf], bool], low: mpf, high: mpf) -> mpf:
    """Return where a property that holds on the left ends."""
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if is_below(middle) else (low, middle)
    return (low + high) / 2


def optimum(valuation: list[list[str]], epsilon: list[str], budget: str) -> dict[str, object]:
    """Solve an instance; every number as text, to 20 digits."""
    made = [LAWS[name](*map(mpf, parameters)) for name, *parameters in valuation]
    laws, requirements = made * (len(epsilon) // len(made)), [mpf(each) for each in epsilon]

    def respond(price: mpf) -> list[mpf]:
        return [law.threshold(each / price) for law, each in zip(laws, requirements, strict=True)]

    def spend(thetas: list[mpf]) -> mpf:
        return mpmath.fsum(theta * law.cdf(theta) for law, theta in zip(laws, thetas, strict=True))

    price, thetas = ZERO, [law.high if each else law.low for law, each in zip(laws, requirements, strict=True)]
    if spend(thetas) > mpf(budget):
        most = ONE
        while spend(respond(most)) > mpf(budget):
            most *= 2
        price = bisect(lambda price: spend(respond(price)) > mpf(budget), ZERO, most)
        thetas = respond(price)
    purchased = mpmath.fsum(each * law.cdf(theta) for law, each, theta in zip(laws, requirements, thetas, strict=True))

    def text(number: mpf) -> str:
        return mpmath.nstr(number, DIGITS)

    return {
        "objective": text(purchased),
        "budget_price": text(price),
        "thresholds": [text(theta) for theta in thetas],
        "spend": text(spend(thetas)),
    }


def instances() -> list[dict[str, object]]:
    with mpmath.workdps(WORKING_DIGITS):
        return [
            {"name": name, "valuation": valuation, "epsilon": epsilon, "budget": budget}
            | optimum(valuation, epsilon, budget)
            for name, valuation, epsilon, budget in INSTANCES
        ]


if __name__ == "__main__":
    print(json.dumps(instances(), indent=1))
