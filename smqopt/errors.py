"""The error family: place, rule, value and remedy, in prose and as attributes."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

__all__ = [
    "CertificateError",
    "DataMissingError",
    "InputError",
    "IrregularLawError",
    "LedgerError",
    "SmqoptError",
    "SolverError",
    "UncertifiedError",
    "check_kind",
    "locate_errors",
    "nearest",
    "nearest_column",
]

_LISTED = 14
"""So many known names are listed beside the nearest one."""
PRIVATE = "(value not shown: it is private)"


class SmqoptError(Exception):
    """An error of this package, in one line.

    Parameters
    ----------
    where
        What is wrong: file, key, row, owner or argument.
    rule
        The rule that is broken, in prose.
    value
        The offending value, already fit to be shown; `PRIVATE` where it must not be.
    remedy
        What to do about it.

    Examples
    --------
    >>> import smqopt as smq
    >>> try:
    ...     smq.Uniform(1, 0)
    ... except smq.SmqoptError as error:
    ...     print(error.where, error.value)
    uniform: parameter 'high' 0.0
    """

    def __init__(self, where: str, rule: str, *, value: object = None, remedy: str = "") -> None:
        self.where = where
        self.rule = rule
        self.value = value
        self.remedy = remedy
        found = (
            ""
            if value is None
            else f" {PRIVATE}"
            if isinstance(value, str) and value == PRIVATE
            else f" (found {value!r})"
        )
        advice = f"; {remedy}" if remedy else ""
        super().__init__(" ".join(f"{where}: {rule}{found}{advice}".split()))

    def __reduce__(self) -> tuple[Callable[..., SmqoptError], tuple[object, ...]]:
        """Travel between processes with all that it says."""
        return _error, (type(self), self.where, self.rule, self.value, self.remedy)


def _error(kind: type[SmqoptError], where: str, rule: str, value: object, remedy: str) -> SmqoptError:
    return kind(where, rule, value=value, remedy=remedy)


class InputError(SmqoptError, ValueError):
    """The input is wrong; the command line turns it into exit code 2.

    Examples
    --------
    >>> import smqopt as smq
    >>> try:
    ...     smq.Market([0.2, -0.5], smq.Uniform(0, 1))
    ... except smq.InputError as error:
    ...     print(error.where, error.value)
    market: epsilon of owner 2 -0.5
    """


class DataMissingError(InputError):
    """A data set that the package does not ship is not where it was looked for."""


class IrregularLawError(SmqoptError):
    """A law not known to be regular meets a method that needs it.

    Examples
    --------
    >>> import smqopt as smq
    >>> error = smq.IrregularLawError("cost curve", "needs a regular law", remedy="iron it")
    >>> print(error)
    cost curve: needs a regular law; iron it
    """


class SolverError(SmqoptError):
    """A solver did not deliver an answer that can be used.

    Examples
    --------
    >>> import smqopt as smq
    >>> error = smq.SolverError("conic", "stopped at its limit of steps", remedy="loosen it")
    >>> print(error)
    conic: stopped at its limit of steps; loosen it
    """


class CertificateError(SmqoptError):
    """A certificate file does not say what its own numbers say.

    Examples
    --------
    >>> import smqopt as smq
    >>> error = smq.CertificateError("certificate.json", "differs from its numbers", remedy="verify")
    >>> print(error)
    certificate.json: differs from its numbers; verify
    """


class LedgerError(SmqoptError):
    """A ledger is damaged, or would spend more of a requirement than is left.

    Examples
    --------
    >>> import smqopt as smq
    >>> error = smq.LedgerError("ledger.txt", "has 1/2 left of ε", remedy="release less")
    >>> print(error)
    ledger.txt: has 1/2 left of ε; release less
    """


class UncertifiedError(SmqoptError):
    """The mechanism was asked to buy with thresholds that no valid certificate covers.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1))
    >>> solution = smq.solve(market, 0.5)
    >>> dear = smq.Solution.from_thresholds(market, 0.1, solution.thresholds)
    >>> try:
    ...     smq.procure(smq.verify(dear), [0.1, 0.2, 0.3])
    ... except smq.UncertifiedError as error:
    ...     print(error.where)
    argument 'certificate'
    """


def check_kind(
    value: object, kind: type | tuple[type, ...], where: str, words: str, remedy: str = "give, say, Uniform(0, 1)"
) -> None:
    """Require that an argument is of a class.

    Raises
    ------
    InputError
        If it is not; names its type, and shows no value.
    """
    if not isinstance(value, kind):
        raise InputError(where, f"must be {words}", value=type(value).__name__, remedy=remedy)


def nearest(unknown: str, known: Iterable[str]) -> str:
    """Say which known name is nearest to an unknown one.

    Examples
    --------
    >>> nearest("epsilom", ["epsilon", "budget"])
    "did you mean 'epsilon'? Known: 'budget', 'epsilon'"
    """
    names = sorted(known)
    listing = "Known: " + ", ".join(repr(name) for name in names) if names else "drop it: none are known here"
    close = difflib.get_close_matches(unknown, names, n=1, cutoff=0.5)
    if not close:
        return listing
    return f"did you mean {close[0]!r}?" + (f" {listing}" if len(names) <= _LISTED else "")


def nearest_column(unknown: str, columns: Iterable[str]) -> str:
    """Name the nearest column of a table, and no other.

    The file may be another than the one meant.

    Examples
    --------
    >>> nearest_column("epsilom", ["epsilon", "root:x:0:0"])
    "did you mean 'epsilon'?"
    """
    close = difflib.get_close_matches(unknown, columns, n=1, cutoff=0.6)
    return f"did you mean {close[0]!r}?" if close else "give the name of a column, as its first line has it"


@contextmanager
def locate_errors(where: str) -> Iterator[None]:
    """Put `where` before what an `InputError` raised inside says, once.

    Examples
    --------
    >>> with locate_errors("model.toml: [valuation]"):
    ...     raise InputError("uniform: parameter 'high'", "must exceed low", value=1.0)
    Traceback (most recent call last):
        ...
    smqopt.errors.InputError: model.toml: [valuation]: uniform: parameter 'high': must exceed low
    (found 1.0)
    """
    try:
        yield
    except InputError as error:
        if error.where.startswith(where):
            raise
        raise type(error)(f"{where}: {error.where}", error.rule, value=error.value, remedy=error.remedy) from error
