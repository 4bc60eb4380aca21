"""What a prediction assumes of the entries, from the command line or by default."""

from __future__ import annotations

from smqopt.errors import InputError
from smqopt.query import (
    Count,
    EntryPrior,
    Histogram,
    JointHistogram,
    Mean,
    Median,
    PopulationQuery,
    Quantile,
    Sum,
    WeightedSum,
)


def entry_prior(query: PopulationQuery, share: float | None, file: str | None) -> EntryPrior:
    """Return the prior of entries: a share of ones, a table, or a default.

    By default half the entries lie at each end of their range for a count, a sum or a mean, where
    the error of sampling is largest; for quantiles every value of the range, and for histograms
    every bin, is equally likely.

    Raises
    ------
    InputError
        If both are given, or they are bad.
    """
    if share is not None and file is not None:
        raise InputError("command line", "--share and --assume exclude each other", remedy="keep one of them")
    if share is not None:
        return EntryPrior.share(share)
    if file is not None:
        return EntryPrior.load(file)
    match query:
        case Count():
            return EntryPrior.share(0.5)
        case Sum() | Mean() | WeightedSum():
            return EntryPrior.at_worst(query.low, query.high)
        case Median() | Quantile():
            return EntryPrior.evenly(query.low, query.high)
        case Histogram() | JointHistogram():
            return EntryPrior(query.edges[:-1], [1.0] * query.bins)
    raise InputError("option '--assume'", "is needed for this query", remedy="give a table of values and weights")
