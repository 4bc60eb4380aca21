"""Model files: one TOML file a procurement instance."""

from typing import TYPE_CHECKING

from smqopt._door import open_door

if TYPE_CHECKING:
    from smqopt.model_files._constraints import (
        locate_constraints as locate_constraints,
        require_feasible as require_feasible,
    )
    from smqopt.model_files._instance import (
        Instance as Instance,
        load_model as load_model,
        make_instance as make_instance,
    )
    from smqopt.model_files._library import model_files as model_files
    from smqopt.model_files._model import Model as Model, read_model as read_model
    from smqopt.model_files._owners import PartsOwners as PartsOwners
    from smqopt.model_files._query_choice import QUERIES as QUERIES, make_query as make_query
    from smqopt.model_files._streams import RandomStreams as RandomStreams
    from smqopt.model_files.adult._adult import (
        adult_columns as adult_columns,
    )
    from smqopt.model_files.adult._original_file import VARIABLE as VARIABLE, OriginalFile as OriginalFile
    from smqopt.model_files.schema._model_table import TABLES as TABLES, model_schema as model_schema
    from smqopt.model_files.schema._question_tables import (
        FrontierQuestion as FrontierQuestion,
        NecessaryPrivacyQuestion as NecessaryPrivacyQuestion,
    )
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
