"""A model at work: the market, and what its owners report and hold, read or drawn."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

import numpy as np

from smqopt.errors import InputError, SolverError
from smqopt.market import ConstraintRecord, Market, MeanSquaredError, Objective
from smqopt.mechanism import POSTED, WHILE_IT_LASTS
from smqopt.model_files._constraints import locate_constraints
from smqopt.model_files._model import Model, read_model
from smqopt.model_files._owners import DatasetOwners, GivenOwners, PartsOwners
from smqopt.model_files._streams import RandomStreams
from smqopt.model_files._valuation import law_of_owners
from smqopt.model_files.adult._adult import embedded_adult, load_adult
from smqopt.model_files.schema._question_tables import LastingBudgetQuestion, LeastBudgetQuestion
from smqopt.numeric import Floats
from smqopt.query import PopulationQuery
from smqopt.questions import ErrorBudget, LastingBudget, LeastBudget, lasting_budget, least_budget
from smqopt.valuation import Valuation, possible_laws

Sought = LeastBudget | ErrorBudget | LastingBudget
"""A budget that a question asks for."""


@dataclass(frozen=True, eq=False)
class Instance:
    """A model whose owners have been read or drawn: what a run works on.

    Examples
    --------
    >>> import smqopt as smq
    >>> model = smq.load_model("fair-coverage")
    >>> model.budget, model.market.n, len(model.constraints)
    (8.0, 48, 3)
    """

    model: Model
    budget: float
    """B, in currency: the model's, or what its question asks for."""
    sought: Sought | None
    """The budget that the question asks for, where it does."""
    seed: int | None
    """The seed in force; None for a private release."""
    market: Market
    source: str
    """Where the owners come from."""
    streams: RandomStreams | None = field(repr=False)
    """The streams of the seed; None for a private release."""
    reports: Floats | None = field(repr=False)
    """Reported valuations, private, one an owner, shape (N,); None where the model has none."""
    data: Floats | None = field(repr=False)
    """Entries, private, one an owner, shape (N,); None where the model has none."""

    @property
    def objective(self) -> Objective:
        """What is to be as good as the budget allows."""
        return self.model.objective

    @property
    def constraints(self) -> tuple[ConstraintRecord, ...]:
        """What must hold beyond OP2."""
        return self.model.constraints

    @property
    def payments(self) -> str:
        """The payment rule that the question asks about, or posted prices."""
        return WHILE_IT_LASTS.name if isinstance(self.sought, LastingBudget) else POSTED.name

    @property
    def money(self) -> float | None:
        """What a purchase while the money lasts may spend, where the question says."""
        return self.sought.money if isinstance(self.sought, LastingBudget) else None

    @property
    def query(self) -> PopulationQuery | None:
        """What is asked of the bought entries; None where the model only buys."""
        return self.model.query

    @property
    def noise(self) -> np.random.Generator | None:
        """The source of noise; None asks for the secure one."""
        return None if self.streams is None else self.streams.noise

    @property
    def lottery(self) -> np.random.Generator | None:
        """What draws the thresholds of lotteries; None leaves it to the system."""
        return None if self.streams is None else self.streams.lottery

    def require(self, name: str) -> Floats:
        """Return the owners' `reports` or `data`.

        Raises
        ------
        InputError
            If the model has none.
        """
        values = self.reports if name == "reports" else self.data
        if values is None:
            remedy = "add it, or give a seed to draw from the law" if name == "reports" else "add the entries"
            raise InputError(self.model.written.table("owners").where(name), "is missing", remedy=remedy)
        return values

    @property
    def needed_query(self) -> PopulationQuery:
        """The model's query.

        Raises
        ------
        InputError
            If the model has none.
        """
        if self.model.query is None:
            raise InputError(
                self.model.written.where("query"), "is missing", remedy='add [query] with kind = "count", say'
            )
        return self.model.query


def load_model(path: str | os.PathLike[str], *, seed: int | None = None, data_file: str | None = None) -> Instance:
    """Read a model file, and read or draw its owners.

    Parameters
    ----------
    path
        The file, or a name of the model library.
    seed
        A seed that overrides the model's.
    data_file
        The original file of the model's data set, in place of what the package ships.

    Returns
    -------
    Instance
        Its `market`, `budget` (currency), `objective`, `constraints` and `query`; and the owners'
        private `reports` and `data`, shape (N,), where the model has them.

    Raises
    ------
    InputError
        If the file is missing or bad; names the line, and never a private value.
    SolverError
        If the question asks for a privacy that no budget reaches.

    Examples
    --------
    >>> model = load_model("slack-market")
    >>> model.market.population, model.budget
    (48, 60.0)
    """
    return make_instance(read_model(path), seed=seed, data_file=data_file)


def make_instance(model: Model, *, seed: int | None = None, data_file: str | None = None) -> Instance:
    """Read or draw the owners of a model.

    Requirements, valuations and noise come from independent streams of the seed. Reported
    valuations that the model does not give are drawn from their law where there is a seed.

    Parameters
    ----------
    model
        The model.
    seed
        A seed that overrides the model's.
    data_file
        The original file of the model's data set, in place of what the package ships.

    Raises
    ------
    InputError
        If requirements are to be drawn without a seed, a data file is given to a model without a
        data set, or the owners are bad.
    SolverError
        If the question asks for a privacy that no budget reaches.
    """
    used = model.seed if seed is None else seed
    streams = None if used is None else RandomStreams.from_seed(used)
    reports: Floats | None = None
    data: Floats | None
    if isinstance(model.owners, PartsOwners):
        raise InputError(
            model.written.table("owners").where("folder"), "is not read into memory",
            remedy="use smqopt solve, verify or run, or smq.ParquetMarket",
        )  # fmt: skip
    if isinstance(model.owners, DatasetOwners):
        market, source, data = _draw(model, model.owners, streams, data_file)
    else:
        if data_file is not None:
            raise InputError(
                "option '--data'", "is for models whose owners come from a data set", remedy="leave it out"
            )
        market, source, data, reports = _given_market(model, model.owners)
    if reports is None and streams is not None:
        reports = _valuations(market.expand().valuation, streams.valuation, market.population)
    budget, sought = _budget(model, market)
    return Instance(model, budget, sought, used, market, source, streams, reports, data)


def _valuations(law: Valuation, rng: np.random.Generator, n: int) -> Floats:
    """Draw valuations; of laws in doubt one is drawn first, by its weight."""
    possible = possible_laws(law)
    if possible is not None:
        law = possible.laws[int(rng.choice(len(possible.laws), p=possible.weights))]
    return law.sample(rng, n)


def _budget(model: Model, market: Market) -> tuple[float, Sought | None]:
    """Return the model's budget, or find the one that its question asks for."""
    if model.budget is not None:
        return model.budget, None
    question, constraints, objective = model.question, model.constraints, model.objective
    found: Sought
    with locate_constraints(model.written, market):
        if isinstance(question, LastingBudgetQuestion):
            found = lasting_budget(market, question.money, constraints=constraints)
            return found.solution.budget, found
        assert isinstance(question, LeastBudgetQuestion)  # noqa: S101 -- the only other one without a budget
        if question.error is not None and isinstance(objective, MeanSquaredError):
            found = least_budget(market, error=question.error, objective=objective, constraints=constraints)
        else:
            found = least_budget(market, question.purchased_privacy or 0.0, constraints=constraints)
    if found.solution is None:
        key = "error" if question.error is not None else "purchased_privacy"
        value = question.error if question.error is not None else question.purchased_privacy
        where = model.written.table("question").where(key)
        raise SolverError(
            where, str(found.status), value=value, remedy="ask for less precision" if key == "error" else "ask for less"
        )
    return found.budget, found


def _draw(
    model: Model, owners: DatasetOwners, streams: RandomStreams | None, data_file: str | None
) -> tuple[Market, str, Floats]:
    if streams is None:
        raise InputError(
            model.written.table("owners").where("epsilon"),
            "is drawn, and there is no seed to draw with",
            remedy="give seed, or --seed",
        )
    entries = embedded_adult() if data_file is None else load_adult(data_file)
    data = entries.column(owners.column).astype(np.float64)
    with model.written.table("owners").locate_errors():
        epsilon = owners.epsilon.sample(streams.epsilon, data.size)
        market = Market(epsilon, law_of_owners(model.valuation, epsilon, {}))
    return market, entries.source, data


def _given_market(model: Model, owners: GivenOwners) -> tuple[Market, str, Floats | None, Floats | None]:
    with model.written.table("owners").locate_errors():
        law = law_of_owners(model.valuation, owners.epsilon, owners.groups)
        market = Market(
            owners.epsilon,
            law,
            owner_ids=owners.ids,
            groups={name: np.array(labels) for name, labels in owners.groups.items()},
            multiplicity=owners.multiplicity,
        )
    return market, owners.source, _by_owner(model, owners, market, "data"), _by_owner(model, owners, market, "reports")


def _by_owner(model: Model, owners: GivenOwners, market: Market, name: str) -> Floats | None:
    """Return one value an owner; one given for a row holds for all its owners."""
    values = owners.reports if name == "reports" else owners.data
    if values is None or values.size == market.population:
        return values
    if values.size != market.n:
        raise InputError(
            model.written.table("owners").where(name),
            f"must have one value for each of the {market.n} rows, or of the {market.population} owners",
            value=values.size,
            remedy="correct its length",
        )
    return np.repeat(values, market.multiplicity) if market.multiplicity is not None else values
