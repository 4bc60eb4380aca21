"""Markets beyond one machine: Parquet in, certified thresholds out, on Dask."""

from typing import TYPE_CHECKING

from smqopt._door import open_door

if TYPE_CHECKING:
    from smqopt.scale._certificate import ParquetCertificate as ParquetCertificate
    from smqopt.scale._outcome import OUTCOME as OUTCOME
    from smqopt.scale._parts_answer import ParquetAnswer as ParquetAnswer
    from smqopt.scale._refit import refit as refit
    from smqopt.scale._solution import ParquetSolution as ParquetSolution
    from smqopt.scale.parts._cluster import workers as workers
    from smqopt.scale.parts._laws import LawByColumns as LawByColumns
    from smqopt.scale.parts._parquet_market import ParquetMarket as ParquetMarket
    from smqopt.scale.verbs._answer_either import answer as answer
    from smqopt.scale.verbs._load_certificate import load_certificate as load_certificate
    from smqopt.scale.verbs._load_outcome import load_outcome as load_outcome
    from smqopt.scale.verbs._procure_either import procure as procure
    from smqopt.scale.verbs._solve_either import solve as solve
    from smqopt.scale.verbs._verify_either import verify as verify
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
