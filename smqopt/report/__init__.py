"""Derivations, certificates and outcomes as documents."""

from typing import TYPE_CHECKING

from smqopt._door import open_door

if TYPE_CHECKING:
    from smqopt.report._comparison import compare_routes as compare_routes
    from smqopt.report._derivation_markdown import derivation_markdown as derivation_markdown
    from smqopt.report._derivation_report import (
        DerivationRecord as DerivationRecord,
        derivation_report as derivation_report,
    )
    from smqopt.report._frontier_figure import DrawnFrontier as DrawnFrontier, frontier_figure as frontier_figure
    from smqopt.report._instance import instance_figures as instance_figures, instance_numbers as instance_numbers
    from smqopt.report._of_op2 import what_is_left_out as what_is_left_out
    from smqopt.report._plots import (
        plot_frontier as plot_frontier,
        plot_prediction as plot_prediction,
        plot_solution as plot_solution,
    )
    from smqopt.report._prediction import prediction_figure as prediction_figure
    from smqopt.report._question_record import QuestionAnswered as QuestionAnswered
    from smqopt.report._run_record import RunRecord as RunRecord
    from smqopt.report._run_report import run_report as run_report
    from smqopt.report.explorer._explored import Explored as Explored
    from smqopt.report.explorer._explorer_page import explorer_page as explorer_page
    from smqopt.report.sections._answer_section import value_in_words as value_in_words
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
