"""Markets beyond one machine: Parquet in, certified thresholds out, on Dask."""

from typing import TYPE_CHECKING

from smqopt._door import open_door

if TYPE_CHECKING:
    from smqopt.scale._laws import LawByColumns as LawByColumns
    from smqopt.scale._parquet_market import ParquetMarket as ParquetMarket
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
