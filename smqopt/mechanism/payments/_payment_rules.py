"""The ways to pay, by name, and what each of them promises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class PaymentRule:
    """A way to pay."""

    name: str
    meaning: str
    """In a sentence."""
    caveats: tuple[str, ...]
    """What a broker and an owner have to know, a sentence each."""


POSTED = PaymentRule(
    "posted",
    "each owner who was bought is paid her threshold, and nobody else is paid",
    ("the budget holds in expectation: what one purchase pays may exceed it, where all thresholds together do",),
)
EX_POST_BUDGET = PaymentRule(
    "ex-post-budget",
    "each owner is paid her posted payment, less an equal share of what the other owners' posted payments exceed their expectations by",
    (
        "the total is at most the budget, whatever is reported",
        "a single payment can be negative: that owner owes the broker",
        "owners who were not bought receive or pay transfers too",
        "individual rationality is interim: an owner gains in expectation over the others' reports, and may lose in one purchase",
    ),
)
WHILE_IT_LASTS = PaymentRule(
    "while-it-lasts",
    "posted prices are offered one owner after the other, and who is bought is paid her threshold; whom the money left does not cover is passed over",
    (
        "the total is at most the budget, whatever is reported",
        "no owner loses: who is bought is paid at least her report",
        "an owner may be passed over, so that she sells less often than her acceptance says",
    ),
)

PAYMENT_RULES: Mapping[str, PaymentRule] = MappingProxyType(
    {rule.name: rule for rule in (POSTED, EX_POST_BUDGET, WHILE_IT_LASTS)}
)
"""Name → rule."""
