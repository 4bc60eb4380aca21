"""The symbolic derivation of OP2: checked steps, from a law to its thresholds."""

from typing import TYPE_CHECKING

from smqopt._door import open_door

if TYPE_CHECKING:
    from smqopt.derivation._derive import (
        Derivation as Derivation,
        derive as derive,
        derive_within as derive_within,
        is_derived_alike as is_derived_alike,
    )
    from smqopt.derivation.closed_form._solved_instance import SolvedInstance as SolvedInstance
    from smqopt.derivation.closed_form._threshold_rule import proved_threshold_rule as proved_threshold_rule
    from smqopt.derivation.render._figures import (
        Optimum as Optimum,
        law_figures as law_figures,
        virtual_cost_marks as virtual_cost_marks,
    )
    from smqopt.derivation.render._general_page import general_page as general_page, general_section as general_section
    from smqopt.derivation.render._html import html_document as html_document
    from smqopt.derivation.render._instance_numbers import InstanceNumbers as InstanceNumbers, numbers_of as numbers_of
    from smqopt.derivation.render._latex import latex_document as latex_document
    from smqopt.derivation.render._latex_text import in_lines as in_lines, prose_in_latex as prose_in_latex
    from smqopt.derivation.render._markdown import markdown_document as markdown_document, table as table, text as text
    from smqopt.derivation.render._room import about_laws as about_laws
    from smqopt.derivation.render._sections import (
        FORMS as FORMS,
        LATEX_FORMS as LATEX_FORMS,
        check_form as check_form,
        checks_in_words as checks_in_words,
        derivation_section as derivation_section,
        families_of as families_of,
        shown_laws as shown_laws,
        verdict_in_words as verdict_in_words,
    )
    from smqopt.derivation.render._shown import ShownLaw as ShownLaw, ShownStep as ShownStep
    from smqopt.derivation.statement._law_in_words import law_in_words as law_in_words
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
