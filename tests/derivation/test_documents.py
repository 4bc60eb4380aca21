"""What derivations are written as: every formula parses, every claim and verdict stands there."""

import re
import shutil
import subprocess
from xml.etree import ElementTree as ET

import numpy as np
import pytest
import sympy as sp
from latex2mathml.converter import convert
from sympy.core.function import AppliedUndef

import smqopt as smq
from smqopt.algebra import EPSILON, LAMBDA, THETA, Verdict, X
from smqopt.derivation import derive, general_page, text
from smqopt.derivation.render._author_form import author_form
from smqopt.derivation.render._typeset import latex, latex_of_equation, latex_of_parameters
from smqopt.notation import letter
from smqopt.valuation import HIGH, LOW

LAWS = {
    "uniform": smq.Uniform(0, 1),
    "power": smq.Power(2),
    "truncated-exponential": smq.TruncatedExponential(2),
    "smoothstep": smq.from_cdf("theta**2*(3-2*theta)", low=0, high=1),
    "word as a parameter": smq.from_cdf("theta**shape_1", low=0, high=1, shape_1=np.array([1.0, 2.0])),
    "end that is no short fraction": smq.from_cdf("theta/high", low=0, high=0.1),
    "beta(2,3)": smq.from_cdf("6*theta**2 - 8*theta**3 + 3*theta**4", low=0, high=1),
}


@pytest.mark.parametrize("name", LAWS)
def test_every_formula_parses(name):
    for step in derive(LAWS[name]).steps:
        for equation in step.equations:
            printed = latex_of_equation(equation)
            ET.fromstring(convert(printed, display="block"))
            assert printed.count("{") == printed.count("}")
            assert printed.count(r"\left") == printed.count(r"\right")
            assert not re.search(r"\^\{?\*\}?\^|\^\*\^", printed), printed
            for word in ("budget", "theta_i^{", "epsilon}", "multiplier", "owners", "virtual", "Sum", "LambertW"):
                assert word not in printed.replace(r"\varepsilon", "").replace(r"\theta", ""), printed


@pytest.mark.parametrize("name", LAWS)
def test_markdown_answers_first_and_folds_every_step(name):
    derivation = derive(LAWS[name])
    page = derivation.to_markdown()
    assert page.startswith("# Derivation")
    assert page.count("$$") % 2 == 0
    assert page.index("Steps: ") < page.index("<details>")
    assert page.count("<details>") == page.count("</details>") >= 7
    assert len(page.split()) <= 1200
    for step in derivation.steps:
        for equation in step.equations:
            said = not equation.every_law and equation.left != equation.right
            assert not said or latex_of_equation(equation) in page
            if equation.verdict in (Verdict.UNDECIDED, Verdict.REFUTED):
                assert text(equation.method) in page


def test_what_holds_for_every_law_stands_once():
    shown = {equation.latex for step in general_page() for equation in step.equations}
    assert [step.verdict for step in general_page() if step.verdict not in ("proved", "")] == []
    assert len(shown) > 60
    law = derive(LAWS["uniform"])
    every = [equation for step in law.steps for equation in step.equations if equation.every_law]
    general = [equation for equation in every if equation.left != equation.right]  # 0 = 0 is not shown
    assert sum(any(latex_of_equation(equation) in each for each in shown) for equation in general) == len(general)


@pytest.mark.parametrize("form", ["theorem", "full"])
@pytest.mark.parametrize("name", LAWS)
def test_latex_shows_the_law_in_numbered_equations(name, form):
    page = derive(LAWS[name]).to_latex(form=form)
    assert page.count(r"\begin{") == page.count(r"\end{")
    labels = re.findall(r"\\label\{([^}]*)\}", page)
    assert len(labels) == len(set(labels)) >= 5
    assert r"\bibitem{zhang2020}" in page
    assert r"\ensuremath" not in page
    assert page.isascii(), {character for character in page if not character.isascii()}


def test_an_unknown_form_is_refused():
    with pytest.raises(smq.InputError, match="theorem"):
        derive(LAWS["uniform"]).to_latex(form="theorm")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
@pytest.mark.parametrize(
    "law",
    [
        smq.Uniform(0, 1),
        smq.LogNormal(0, 0.5, low=0.25, high=3),
        smq.Beta(2.5, 3.5),
        smq.PiecewiseUniform([0.5, 1, 2, 4], [4, 0, 1]),
        smq.ByOwner([smq.Uniform(0, 1), smq.Power(2)]),
        smq.Mixture([smq.Uniform(0, 1), smq.Power(2, low=0.5, high=3)], [0.25, 0.75]),
    ],
    ids=repr,
)
def test_latex_compiles_twice_without_a_warning(law, tmp_path):
    derivation = derive(law)
    for form in ("theorem", "full"):
        (tmp_path / f"{form}.tex").write_text(derivation.to_latex(form=form), encoding="ascii")
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", f"{form}.tex"]
        for _ in range(2):
            done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
        printed = done.stdout.decode(errors="replace")
        assert done.returncode == 0, printed[-2000:]
        assert re.findall(r".*(?:[Ww]arning|Overfull|Underfull).*", printed) == []


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
@pytest.mark.parametrize(
    "law",
    [
        smq.Power(2),
        smq.Triangular(0, 0.4, 1),
        smq.Mixture(
            [smq.Normal(0.2, 0.1, 0, 1), smq.Normal(0.5, 0.2, 0, 1), smq.Normal(0.7, 0.3, 0, 1)], [0.3, 0.3, 0.4]
        ),
        smq.Mixture(
            [
                smq.PiecewiseUniform([0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2], [5, 4, 3, 4, 2, 5, 1, 2]),
                smq.Triangular(0, 0.7, 2),
                smq.Kumaraswamy(2.3, 0.75, 0, 2),
            ],
            [0.5, 0.2, 0.3],
        ),
    ],
    ids=repr,
)
def test_a_proof_for_a_paper_takes_a_page_at_most(law, tmp_path):
    page = derive(law).to_latex(form="theorem")
    head, body = page.split(r"\begin{document}")
    proof = body[body.index(r"\begin{proof}") : body.index(r"\end{proof}")] + r"\end{proof}"
    box = rf"\setbox0=\vbox{{\hsize=\textwidth\linewidth=\hsize {proof}}}"
    (tmp_path / "p.tex").write_text(
        head
        + r"\begin{document}"
        + box
        + r"\typeout{HEIGHT \the\dimexpr\ht0+\dp0\relax\space OF \the\textheight}\end{document}"
    )
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "p.tex"], cwd=tmp_path, capture_output=True, check=False
    )
    height, most = re.findall(r"HEIGHT ([\d.]+)pt OF ([\d.]+)pt", done.stdout.decode(errors="replace"))[0]
    assert 0 < float(height) <= float(most)


@pytest.mark.slow
def test_owners_on_both_sides_of_a_case_beside_another_family_are_all_shown():
    laws = [smq.Beta(2, 0.5), smq.Logistic(0, 1.5, 0, 1), smq.Beta(1, 1), smq.Beta(0.5, 0.6)]
    derivation = derive(smq.ByOwner(laws))
    assert sorted(owner for part in derivation.parts for owner in np.atleast_1d(part.owners)) == [0, 1, 2, 3]
    assert not any(part.derivation.parts for part in derivation.parts)
    assert derivation.to_latex(form="theorem").count(r"\begin{proposition}") == len(derivation.parts) == 3


def test_letters_are_those_of_the_legend():
    assert latex(EPSILON / LAMBDA) == r"\frac{\varepsilon_i}{\lambda}"
    assert latex(X) == letter("price_ratio").latex
    assert latex(2 * THETA - LOW) == r"2 \theta_i - \underline{\theta}_i"
    assert latex(HIGH) == letter("high").latex
    assert latex(sp.Rational(*(0.1).as_integer_ratio())) == "0.1"
    assert latex(sp.Rational("1.1150000000000002")) == "1.115"
    assert latex(X * sp.Rational(1400000000000000, 2700000000000003)) == "0.518519 x_i"
    assert latex(sp.Rational(1, 3)) == r"\frac{1}{3}"
    assert latex(sp.sqrt(X) * sp.sqrt(1 / (LOW - 1))) == r"\sqrt{\frac{x_i}{\underline{\theta}_i - 1}}"


def test_fractions_are_written_without_needless_signs():
    mode = sp.Symbol("mode", positive=True)
    width = r"\overline{\theta}_i - \underline{\theta}_i"
    assert latex(-(LOW * mode - HIGH - X) / (X + HIGH)).startswith(
        r"\frac{\overline{\theta}_i - \underline{\theta}_i m + x_i}"
    )
    assert (
        latex((2 * THETA - 2 * LOW) / (HIGH - LOW))
        == rf"\frac{{2 \left(\theta_i - \underline{{\theta}}_i\right)}}{{{width}}}"
    )
    assert latex((LOW - THETA) / (LOW - HIGH)) == rf"\frac{{\theta_i - \underline{{\theta}}_i}}{{{width}}}"
    assert latex(1 - (HIGH - mode) / (HIGH - LOW)) == rf"1 - \frac{{\overline{{\theta}}_i - m}}{{{width}}}"
    assert latex(sp.Mul(sp.Rational(1, 2), LOW + X, evaluate=False)) == r"\frac{\underline{\theta}_i + x_i}{2}"


def test_a_legend_lists_what_the_document_shows():
    document = derive(smq.Triangular(0, 2, 5)).to_latex(form="theorem")
    legend = document[document.index("Symbols") :]
    assert r"$m$ & mode, a parameter of the distribution \\" in legend
    assert r"$\theta_i \sim F_i$" in legend
    assert not any(f"${absent}$ &" in legend for absent in ("n", "m_i", "p_i", "d_i", "q_i"))


def test_by_owner_writes_one_part_a_family():
    derivation = derive(smq.ByOwner([smq.Uniform(0, 1), smq.Power(2), smq.Uniform(0, 2)]))
    assert derivation.to_markdown().count("## Law ") == 4
    assert derivation.to_markdown("full").count("## Uniform") == derivation.to_markdown("full").count("## Power") == 2
    assert derivation.to_latex().count(r"\begin{proposition}") == 2
    assert derivation.to_latex().count(r"\begin{document}") == 1


def test_steps_give_sympy_relations():
    for step in derive(smq.Uniform(0, 1)).steps:
        for equation in step.equations:
            relation = equation.as_sympy()
            assert relation.lhs == equation.left
            assert relation.rhs == equation.right


@pytest.mark.parametrize("law", [smq.Uniform(0, 1), smq.ByOwner([smq.Uniform(0, 1), smq.Power(2)])], ids=repr)
def test_a_derivation_is_shown_in_short(law):
    derivation = smq.derive(law)
    bundle = derivation._repr_mimebundle_()
    assert bundle["text/plain"] == repr(derivation)
    assert f"{len(derivation.steps)} proved" in repr(derivation)
    assert len(repr(derivation)) < 400
    assert bundle["text/markdown"].count("$$") >= 2 * len(derivation.parts or [derivation])


def test_conditions_of_cases_name_the_variable_first():
    cases = sp.Piecewise((LOW, sp.Le(X, LOW, evaluate=False)), (HIGH, sp.Ge(X, HIGH, evaluate=False)), (X, True))
    printed = latex(cases)
    assert printed.index(r"x_i \leq") < printed.index(r"x_i \geq")


PRINTED = (smq.Triangular(0, 2, 5), smq.Kumaraswamy(2, 3), smq.Beta(2, 3))


@pytest.mark.parametrize("law", PRINTED, ids=lambda law: law.name)
def test_the_printed_form_of_an_expression_has_its_value(law):
    """What is printed with other signs and factors is the same number."""
    changed = 0
    for step in derive(law).steps:
        for side in (side for equation in step.equations for side in (equation.left, equation.right)):
            if side.has(sp.Sum, sp.Limit, sp.Derivative, AppliedUndef, sp.Indexed) or author_form(side) == side:
                continue
            symbols = sorted(side.free_symbols, key=str)
            values = {symbol: sp.Rational(3 * k + 2, 7 * k + 11) for k, symbol in enumerate(symbols)}
            printed, known = (sp.N(form.xreplace(values), 30) for form in (author_form(side), side))
            assert abs(printed - known) <= 1e-20 * abs(known)
            changed += 1
    assert changed


@pytest.mark.slow
@pytest.mark.parametrize(("law", "said"), [(smq.Pareto(1, 1, 2), r"0 < \under"), (smq.Power(2), r"0 \le \under")])
def test_a_law_says_whether_its_low_end_may_be_0(law, said):
    argument = derive(law).argument
    assert said in latex_of_parameters(argument.law, argument.domain)


def test_only_cases_that_follow_each_other_are_joined():
    low, middle, high = THETA <= 1, THETA <= 3, THETA >= 3
    apart = sp.Piecewise((1, low), (1, high), (THETA, True), evaluate=False)
    assert author_form(apart) == apart
    neighbours = sp.Piecewise((1, low), (1, middle), (THETA, True), evaluate=False)
    assert author_form(neighbours) == sp.Piecewise((1, middle), (THETA, True), evaluate=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("law", "step", "written", "not_written"),
    [
        (smq.Uniform(0.2, 1), "budget-price", r"+ \sum_{i=1}^{n} \frac{1_{i \in M} \underline{\theta}_i^{2}}", r"\sum_{i=1}^{n} -"),
        (smq.Uniform(0.2, 1), "budget-price", r"4 B \left(\overline{\theta} - \underline{\theta}\right)", r"8 \overline"),
        (smq.Power(2), "law", r"^{k - 1}}{\overline{\theta}_i - \underline{\theta}_i}", r"}{\theta_i - \underline"),
        (smq.from_cdf("theta**a", low=0, high=1, a=1.5), "spend", r"= \theta_i^{a + 1}", r"\theta_i \theta_i^{a}"),
        (smq.Kumaraswamy(2, 3), "virtual-cost", r"\right)^{1 - a}", r"\right)^{- a}"),
    ],
)  # fmt: skip
def test_powers_are_joined_and_sums_have_no_needless_signs(law, step, written, not_written):
    shown = [latex_of_equation(each) for each in derive(law).step(step).equations if not each.every_law]
    assert any(written in each for each in shown), shown
    assert not any(not_written in each for each in shown), shown


@pytest.mark.slow
def test_special_functions_are_those_of_the_field_and_in_the_legend():
    page = derive(smq.Beta(2.5, 3.5)).to_latex(form="theorem")
    assert r"; a, b\right)" in page
    assert "incomplete one from 0" in page
    assert "Lambert" in derive(smq.TruncatedExponential(2)).to_latex(form="theorem")
    assert "Lambert" not in page


def test_a_side_is_kept_apart_from_the_powers_of_a_place():
    limit = sp.Limit(THETA, THETA, sp.Rational(4, 10**7), "-")
    assert convert(latex(limit))
    assert latex(limit.xreplace({limit.args[2]: LOW})).startswith(r"\lim_{\theta_i \to \underline{\theta}_i^-}")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("law", "shown"),
    [
        (smq.PiecewiseUniform([0.5, 1, 2, 4], [4, 0, 1]), "F is flat from 1 to 2"),
        (smq.PiecewiseUniform([0.1, 0.3, 0.7], [0.1, 0.3]), r"\lim_{\theta_i \to \frac{3}{10}^+}"),
    ],
    ids=repr,
)
def test_the_proof_of_an_irregular_law_shows_where_the_virtual_cost_falls(law, shown):
    page = derive(law).to_latex(form="theorem")
    proof = page[page.index(r"\begin{proof}") : page.index(r"\end{proof}")]
    assert shown in proof
    assert r"The slope of the virtual cost is" not in proof or r"} J_i\left(\theta_i\right) = " in proof
    assert "not known to rise" not in proof


def test_a_notebook_says_where_its_forms_hold():
    shown = derive(smq.Power(2, low=0.5))._repr_mimebundle_()["text/markdown"]
    for said in (r"0 < k$, with $x_i", "the support begins at 0", "regular", "17 proved"):
        assert said in shown


@pytest.mark.slow
def test_the_general_page_says_where_letters_lie_and_nothing_vacuous():
    shown = [each.latex for step in general_page() for each in step.equations]
    assert "0 = 0" not in shown
    bounded = [each for each in shown if (r"\ge" in each.split(r" \qquad")[0] and "(t" in each) or "q_i t" in each]
    assert len(bounded) >= 4
    assert all(r"\text{for }" in each and r"\theta}_i" in each.split(r"\text{for }")[1] for each in bounded)
    assert not any("`" in said for step in general_page() for said in (*step.before, *step.after))


@pytest.mark.slow
def test_where_the_threshold_solves_is_said_in_every_form():
    """Beyond J at the ends of the support, and within its jumps, θ* rests at an end or a joint."""
    numbers = derive(smq.from_cdf("sin(pi*(theta-0.5)/4)**2/sin(pi/5)**2", 0.5, 1.3)).to_markdown(form="summary")
    line = next(line for line in numbers.splitlines() if line.startswith(r"J_i\left(\theta_i^*"))
    assert r"\frac{1}{2} \le x_i \le" in line
    assert r"\infty" not in derive(smq.Beta(2, 3)).to_markdown(form="summary")
    jumps = derive(smq.PiecewiseUniform([0.5, 1, 2, 4], [4, 3, 1])).to_latex(form="theorem")
    assert jumps.count(r"J_i\left(\theta_i^*\left(x_i\right)\right) = x_i \qquad") == 3
    assert r"\frac{7}{3} < x_i \le \frac{13}{3}" in jumps
