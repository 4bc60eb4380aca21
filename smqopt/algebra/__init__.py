"""Expressions from an allow-list, their signs, and their numbers."""

from typing import TYPE_CHECKING

from smqopt._door import open_door

if TYPE_CHECKING:
    from smqopt.algebra.claim._equation import (
        Equation as Equation,
        Relation as Relation,
        SymbolRange as SymbolRange,
        Verdict as Verdict,
        worst as worst,
    )
    from smqopt.algebra.claim._letters import (
        ACCEPTANCE as ACCEPTANCE,
        ALLOCATION as ALLOCATION,
        AT_HIGH as AT_HIGH,
        BUDGET as BUDGET,
        CLIPPED_THRESHOLD as CLIPPED_THRESHOLD,
        COST_CURVE as COST_CURVE,
        EPSILON as EPSILON,
        EPSILONS as EPSILONS,
        GAMMA as GAMMA,
        GAMMAS as GAMMAS,
        HEIGHT as HEIGHT,
        INSIDE as INSIDE,
        LAGRANGIAN as LAGRANGIAN,
        LAMBDA as LAMBDA,
        LEFT as LEFT,
        LETTERS as LETTERS,
        MU as MU,
        MUS as MUS,
        OTHER as OTHER,
        OWNER_LAGRANGIAN as OWNER_LAGRANGIAN,
        PAYMENT as PAYMENT,
        PRICE as PRICE,
        QUANTILE as QUANTILE,
        RENT as RENT,
        REPORT as REPORT,
        SHARE as SHARE,
        SPEND as SPEND,
        SPEND_CURVE as SPEND_CURVE,
        TAKEN as TAKEN,
        THETAS as THETAS,
        THRESHOLD as THRESHOLD,
        THRESHOLD_OF_SPEND as THRESHOLD_OF_SPEND,
        UTILITY as UTILITY,
        VALUE as VALUE,
        VARIABLE as VARIABLE,
        F as F,
        I as I,
        J as J,
        N as N,
        X as X,
        f as f,
        over_owners as over_owners,
    )
    from smqopt.algebra.decision._continuity import is_continuous as is_continuous
    from smqopt.algebra.decision._decide import (
        NO_REDUCTION as NO_REDUCTION,
        OUT_OF_WORK as OUT_OF_WORK,
        Meaning as Meaning,
        decide_claim as decide_claim,
        decide_sign as decide_sign,
    )
    from smqopt.algebra.decision._domain import Domain as Domain
    from smqopt.algebra.decision._end_order import SIGN_BITS as SIGN_BITS
    from smqopt.algebra.decision._evidence import BITS as BITS, values_at as values_at
    from smqopt.algebra.decision._powers import exponential_rate as exponential_rate, power_exponent as power_exponent
    from smqopt.algebra.decision._premises import (
        ACCEPTS as ACCEPTS,
        COSTLY as COSTLY,
        DENSE as DENSE,
        FALLEN as FALLEN,
        NOT_FALLING as NOT_FALLING,
        RISEN as RISEN,
        follows as follows,
    )
    from smqopt.algebra.decision._reduction import (
        has_long_powers as has_long_powers,
        is_never_negative as is_never_negative,
        is_too_large as is_too_large,
        ratio as ratio,
        shortest as shortest,
        vanishes as vanishes,
    )
    from smqopt.algebra.decision._sign import (
        Negative as Negative,
        Nonnegative as Nonnegative,
        Sign as Sign,
        Unknown as Unknown,
        sign_on as sign_on,
    )
    from smqopt.algebra.decision._work import (
        LONGEST_DERIVATION as LONGEST_DERIVATION,
        ran_short as ran_short,
        remember as remember,
        within_limit as within_limit,
        work_budget as work_budget,
        work_share as work_share,
    )
    from smqopt.algebra.evaluation._evaluation import Evaluation as Evaluation, sharpest as sharpest
    from smqopt.algebra.evaluation._lambdify import lambdify as lambdify
    from smqopt.algebra.evaluation._roots_of_formula import FormulaEquation as FormulaEquation
    from smqopt.algebra.expression._absolute import absolute as absolute, direction as direction, spike as spike
    from smqopt.algebra.expression._antiderivative import (
        ABOVE_MINUS_ONE as ABOVE_MINUS_ONE,
        antiderivative as antiderivative,
    )
    from smqopt.algebra.expression._exact_log import put_in as put_in
    from smqopt.algebra.expression._invertible import (
        has_long_exponents as has_long_exponents,
        might_be_inverted as might_be_inverted,
    )
    from smqopt.algebra.expression._moments import in_moments as in_moments
    from smqopt.algebra.expression._parser import (
        THETA as THETA,
        check_name as check_name,
        decimal as decimal,
        names_in as names_in,
        parse as parse,
        rational as rational,
    )
    from smqopt.algebra.expression._rational_part import factor_fraction as factor_fraction
    from smqopt.algebra.expression._renaming import if_readable as if_readable, rename_symbols as rename_symbols
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
