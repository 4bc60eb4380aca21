"""State named tolerances, exact sums and the door from symbols to floating point."""

from typing import TYPE_CHECKING

from smqopt._door import open_door

if TYPE_CHECKING:
    from smqopt.numeric._arrays import (
        Floats as Floats,
        Indices as Indices,
        Integers as Integers,
        Mask as Mask,
        NumberList as NumberList,
    )
    from smqopt.numeric._balls import (
        Ball as Ball,
        ball as ball,
        ball_function as ball_function,
        bound_ball_function as bound_ball_function,
        bound_series_function as bound_series_function,
        count_calls as count_calls,
        hull as hull,
        precision as precision,
        rounded_down as rounded_down,
        rounded_up as rounded_up,
        series_function as series_function,
    )
    from smqopt.numeric._frozen_dict import FrozenDict as FrozenDict
    from smqopt.numeric._incomplete_gamma import incomplete_gamma as incomplete_gamma
    from smqopt.numeric._irreducible_subset import irreducible as irreducible
    from smqopt.numeric._legendre import legendre_rule as legendre_rule
    from smqopt.numeric._named_values import (
        Names as Names,
        align as align,
        align_pairs as align_pairs,
        cover as cover,
        frame_columns as frame_columns,
        names_of as names_of,
        refuse_names as refuse_names,
    )
    from smqopt.numeric._nearest_double import nearest_double as nearest_double
    from smqopt.numeric._plain_array import (
        as_names as as_names,
        double_of as double_of,
        plain_array as plain_array,
        points as points,
    )
    from smqopt.numeric._roots import (
        SEARCH_CLOSE as SEARCH_CLOSE,
        Bracket as Bracket,
        increasing_root as increasing_root,
        largest_within as largest_within,
        log_ratio as log_ratio,
    )
    from smqopt.numeric._sums import (
        BLOCK as BLOCK,
        UNITS as UNITS,
        doubles_around as doubles_around,
        exact_dot as exact_dot,
        exact_sum as exact_sum,
        nearest_of_units as nearest_of_units,
        sum_with_error as sum_with_error,
        units_around_dot as units_around_dot,
        units_of_dot as units_of_dot,
        units_of_sum as units_of_sum,
    )
    from smqopt.numeric._tape import Tape as Tape, tape as tape
    from smqopt.numeric._tolerances import (
        ACCEPTANCE as ACCEPTANCE,
        BINDING_SHARE as BINDING_SHARE,
        BLOCK_EXCESS as BLOCK_EXCESS,
        BUDGET_MARGIN as BUDGET_MARGIN,
        BUDGET_SHORTFALL as BUDGET_SHORTFALL,
        CONIC_FEASIBILITY as CONIC_FEASIBILITY,
        CONIC_LOOSE as CONIC_LOOSE,
        CONIC_MIDDLE as CONIC_MIDDLE,
        CONIC_TIGHT as CONIC_TIGHT,
        CURVED_GAP as CURVED_GAP,
        CURVED_ROW as CURVED_ROW,
        DENSITY as DENSITY,
        ERROR_GAP as ERROR_GAP,
        FALL as FALL,
        FORMULA as FORMULA,
        FRONTIER_EXACT as FRONTIER_EXACT,
        FRONTIER_GAP as FRONTIER_GAP,
        GAP as GAP,
        HIDDEN_GAP as HIDDEN_GAP,
        IDENTITY as IDENTITY,
        INCENTIVE as INCENTIVE,
        MASS as MASS,
        MECHANISM_LP as MECHANISM_LP,
        PIECES_GAP as PIECES_GAP,
        POSTED_GAP as POSTED_GAP,
        PRICE as PRICE,
        PRICE_TABLE as PRICE_TABLE,
        QUADRATURE as QUADRATURE,
        RECHECK as RECHECK,
        ROUND_TRIP as ROUND_TRIP,
        ROUNDING as ROUNDING,
        SIDE_GAP as SIDE_GAP,
        SIDE_ROW as SIDE_ROW,
        STATIONARITY as STATIONARITY,
        SUPPORT_END as SUPPORT_END,
        TANGENT as TANGENT,
        TERM_ROUNDING as TERM_ROUNDING,
        THRESHOLD as THRESHOLD,
    )
    from smqopt.numeric._work import (
        OutOfWorkError as OutOfWorkError,
        count_work as count_work,
        long_work as long_work,
        process_limit as process_limit,
        report_progress as report_progress,
        work_left as work_left,
        work_limit as work_limit,
        work_part as work_part,
    )
    from smqopt.numeric._wright_omega import (
        log_wright_omega_1p as log_wright_omega_1p,
        with_wright_omega as with_wright_omega,
    )
    from smqopt.numeric.bits._bins import (
        BIN_SHIFT as BIN_SHIFT,
        POWERS as POWERS,
        Bins as Bins,
        bin_edges as bin_edges,
        bin_sums as bin_sums,
        bins_around as bins_around,
        bits_of as bits_of,
        places_in_bins as places_in_bins,
        points_of_bins as points_of_bins,
        points_of_sums as points_of_sums,
        power_sums as power_sums,
    )
    from smqopt.numeric.bits._octaves import OctaveTable as OctaveTable, tabulate as tabulate
    from smqopt.numeric.interior._hinge_qp import HingeProgram as HingeProgram, Lowest as Lowest
    from smqopt.numeric.interior._interior_program import (
        HELD as HELD,
        ConcaveSum as ConcaveSum,
        InteriorProgram as InteriorProgram,
    )
    from smqopt.numeric.interior._newton_steps import newton_steps as newton_steps
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
