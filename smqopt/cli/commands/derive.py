"""`smqopt derive`: the optimal thresholds of a law, in checked steps."""

from __future__ import annotations

from collections.abc import Sequence

import click

from smqopt.cli.entry import CHECK_FAILED
from smqopt.cli.located import located
from smqopt.derivation.derive import derive as derive_law
from smqopt.derivation.equation import Verdict
from smqopt.errors import InputError, nearest
from smqopt.files import write_text
from smqopt.program.market import numbers
from smqopt.valuation.base import Valuation
from smqopt.valuation.registry import LAWS, valuation_from_dict

__all__ = ["derive"]


@click.command()
@click.argument("law", required=False)
@click.option(
    "--cdf", metavar="TEXT", help="A distribution function in theta, as 'theta**2*(3 - 2*theta)', in place of LAW."
)
@click.option("--low", metavar="NUMBER", help="The low end of the support.")
@click.option("--high", metavar="NUMBER", help="The high end of the support.")
@click.option(
    "--param", "parameters", multiple=True, metavar="NAME=NUMBER", help="A parameter of the law; may be repeated."
)
@click.option("--out", metavar="FILE", help="Write the Markdown here, in place of standard output.")
def derive(
    law: str | None, cdf: str | None, low: str | None, high: str | None, parameters: Sequence[str], out: str | None
) -> int:
    """Derive the optimal thresholds of a law, in checked steps.

    LAW is a name of the registry, such as uniform or power; --cdf states another one. The derivation holds for all parameters, so they may be
    left out.
    """
    derivation = derive_law(_law(law, cdf, low, high, parameters))
    text = derivation.to_markdown()
    if out is None:
        click.echo(text)
    else:
        write_text(out, text if text.endswith("\n") else text + "\n")
    return CHECK_FAILED if any(step.verdict is Verdict.REFUTED for step in derivation.steps) else 0


def _law(law: str | None, cdf: str | None, low: str | None, high: str | None, parameters: Sequence[str]) -> Valuation:
    given = {
        name: _number(f"option '--{name}'", text) for name, text in (("low", low), ("high", high)) if text is not None
    }
    for parameter in parameters:
        name, equals, text = parameter.partition("=")
        if not equals:
            raise InputError("option '--param'", "must be NAME=NUMBER", value=parameter, remedy="write, say, k=2")
        if name in given:
            raise InputError("option '--param'", "gives a parameter twice", value=name, remedy="give it once")
        given[name] = _number(f"option '--param' {name!r}", text)
    if law is not None and cdf is None:
        if law not in LAWS:
            raise InputError("argument 'LAW'", "is not a known law", value=law, remedy=nearest(law, LAWS))
        return valuation_from_dict({"law": law, **LAWS[law][2], **given}, f"law {law!r}")
    if cdf is None or law is not None:
        raise InputError("command line", "needs either LAW or --cdf", remedy=f"LAW is one of {', '.join(LAWS)}")
    with located("option '--cdf'"):
        return valuation_from_dict({"cdf": cdf, **given}, "option '--cdf'")


def _number(where: str, text: str) -> float:
    return float(numbers([text], where)[0])
