"""Formulas, charts and pages as text, whatever they speak of."""

from typing import TYPE_CHECKING

from smqopt._door import open_door

if TYPE_CHECKING:
    from smqopt.document._axes_drawing import draw_axes as draw_axes, pdf as pdf, png as png
    from smqopt.document._axis import round_step as round_step
    from smqopt.document._chart import (
        Area as Area,
        Band as Band,
        Chart as Chart,
        Dots as Dots,
        Level as Level,
        Mark as Mark,
        PlottedCurve as PlottedCurve,
        Whiskers as Whiskers,
        chart as chart,
        log_chart as log_chart,
        render as render,
    )
    from smqopt.document._figure import Figure as Figure
    from smqopt.document._line_breaks import break_lines as break_lines
    from smqopt.document._number_format import (
        DIGITS as DIGITS,
        column as column,
        digits_down_to as digits_down_to,
        show_interval as show_interval,
        shown as shown,
        shown_latex as shown_latex,
        shown_share as shown_share,
        supported_digits as supported_digits,
    )
    from smqopt.document._page import formulas_of as formulas_of, page as page, visible_words as visible_words
    from smqopt.document._panels import Panel as Panel, panels as panels
    from smqopt.document._prose import with_indices as with_indices
    from smqopt.document._section import Section as Section
    from smqopt.document._symbols import symbols_section as symbols_section
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
