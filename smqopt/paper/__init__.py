"""The paper's errata, data sets, baselines and experiments."""

from typing import TYPE_CHECKING

from smqopt._door import open_door

if TYPE_CHECKING:
    from smqopt.paper.data_sets._population import DATA_SETS as DATA_SETS
    from smqopt.paper.errata._entry import Entry as Entry
    from smqopt.paper.errata._table import ERRATA as ERRATA, FACTS as FACTS
    from smqopt.paper.experiments._plan import QUICK_TRIALS as QUICK_TRIALS, TRIALS as TRIALS, Plan as Plan
    from smqopt.paper.experiments._run import run as run
    from smqopt.paper.experiments._store import Store as Store
    from smqopt.paper.experiments._summary import Results as Results, condense as condense
    from smqopt.paper.reproduction._page import FIGURES as FIGURES, write_page as write_page
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
