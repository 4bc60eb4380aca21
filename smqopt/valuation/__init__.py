"""Laws of valuations: one law a file, one contract for all."""

from typing import TYPE_CHECKING

from smqopt._door import open_door

if TYPE_CHECKING:
    from smqopt.valuation.composition._by_owner import ByOwner as ByOwner
    from smqopt.valuation.composition._mixture import Mixture as Mixture
    from smqopt.valuation.composition._truncated import (
        Truncated as Truncated,
        TruncatedLaw as TruncatedLaw,
    )
    from smqopt.valuation.copula._conditional import CopulaConditional as CopulaConditional
    from smqopt.valuation.copula._gaussian_copula import GaussianCopula as GaussianCopula
    from smqopt.valuation.copula._independence import (
        IndependenceTest as IndependenceTest,
        independence_test as independence_test,
    )
    from smqopt.valuation.doubt._in_doubt import possible_laws as possible_laws
    from smqopt.valuation.doubt._scenarios import Scenarios as Scenarios
    from smqopt.valuation.estimation._empirical_conditional import EmpiricalConditional as EmpiricalConditional
    from smqopt.valuation.estimation._from_samples import (
        empirical_law as empirical_law,
        from_samples as from_samples,
    )
    from smqopt.valuation.estimation._sample_law import SampleLaw as SampleLaw
    from smqopt.valuation.expression._symbolic_law import (
        HIGH as HIGH,
        LOW as LOW,
    )
    from smqopt.valuation.families._beta import Beta as Beta
    from smqopt.valuation.families._gamma import Gamma as Gamma
    from smqopt.valuation.families._kumaraswamy import Kumaraswamy as Kumaraswamy
    from smqopt.valuation.families._log_normal import LogNormal as LogNormal
    from smqopt.valuation.families._logistic import Logistic as Logistic
    from smqopt.valuation.families._normal import Normal as Normal
    from smqopt.valuation.families._pareto import Pareto as Pareto
    from smqopt.valuation.families._power import Power as Power
    from smqopt.valuation.families._triangular import Triangular as Triangular
    from smqopt.valuation.families._truncated_exponential import TruncatedExponential as TruncatedExponential
    from smqopt.valuation.families._uniform import Uniform as Uniform
    from smqopt.valuation.families._weibull import Weibull as Weibull
    from smqopt.valuation.formulas._law_formulas import LawFormulas as LawFormulas, Row as Row, reading_of as reading_of
    from smqopt.valuation.formulas._symbolic_forms import (
        by_sides as by_sides,
        candidates as candidates,
        in_numbers as in_numbers,
    )
    from smqopt.valuation.from_formula._from_cdf import from_cdf as from_cdf
    from smqopt.valuation.from_formula._from_pdf import from_pdf as from_pdf
    from smqopt.valuation.ironing._cell_bound import bound_by_cells as bound_by_cells
    from smqopt.valuation.ironing._flat_segments import FlatPieces as FlatPieces
    from smqopt.valuation.ironing._guided_search import GuidedSearch as GuidedSearch
    from smqopt.valuation.ironing._hull_segments import HullSegments as HullSegments
    from smqopt.valuation.ironing._iron import flat_pieces as flat_pieces, iron as iron
    from smqopt.valuation.ironing._ironed_law import Ironed as Ironed, Stretch as Stretch
    from smqopt.valuation.ironing._lower_hull import lower_hull as lower_hull
    from smqopt.valuation.ironing._monotone_interval import threshold_on_stretch as threshold_on_stretch
    from smqopt.valuation.ironing._own_hull import has_proved_hull as has_proved_hull
    from smqopt.valuation.ironing._response_table import (
        ResponseTable as ResponseTable,
        response_table as response_table,
    )
    from smqopt.valuation.ironing._shared_cell_bound import bound_together as bound_together
    from smqopt.valuation.ironing._step_response import StepResponse as StepResponse
    from smqopt.valuation.law._base import (
        Index as Index,
        Valuation as Valuation,
    )
    from smqopt.valuation.law._external import (
        sketch as sketch,
        validate_foreign as validate_foreign,
    )
    from smqopt.valuation.law._law_registry import LAWS as LAWS, valuation_from_dict as valuation_from_dict
    from smqopt.valuation.law._owner_names import match_owners as match_owners
    from smqopt.valuation.law._verdict import (
        Hazard as Hazard,
        Irregular as Irregular,
        Regular as Regular,
        Undecided as Undecided,
        Verdict as Verdict,
    )
    from smqopt.valuation.monotonicity._on_pieces import (
        decide_pieces as decide_pieces,
        density_does_not_rise as density_does_not_rise,
    )
    from smqopt.valuation.scipy_laws._from_scipy import from_scipy as from_scipy
    from smqopt.valuation.table._ball_laws import (
        BallLaw as BallLaw,
        OwnerBalls as OwnerBalls,
        ball_law as ball_law,
    )
    from smqopt.valuation.table._known_tables import proved_table as proved_table
    from smqopt.valuation.table._proved_table import ProvedTable as ProvedTable
    from smqopt.valuation.table._remainders import Remainders as Remainders
    from smqopt.valuation.table._smooth_piece import ORDER as ORDER, PieceLaw as PieceLaw, SmoothPiece as SmoothPiece
    from smqopt.valuation.table._smooth_pieces import piece_law as piece_law
    from smqopt.valuation.table._step_law import StepLaw as StepLaw, step_law as step_law
    from smqopt.valuation.tabular._discrete import Discrete as Discrete
    from smqopt.valuation.tabular._piecewise_uniform import PiecewiseUniform as PiecewiseUniform
    from smqopt.valuation.tabular._piecewise_uniform_by_owner import PiecewiseUniformByOwner as PiecewiseUniformByOwner
    from smqopt.valuation.tabular._point_mass import PointMass as PointMass
    from smqopt.valuation.tabular._price_bounded import PriceBounded as PriceBounded
    from smqopt.valuation.tabular._price_floored import PriceFloored as PriceFloored
    from smqopt.valuation.tabular._price_listed import PriceListed as PriceListed
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
