"""Queries under personalised differential privacy: the P-E mechanism."""

from typing import TYPE_CHECKING

from smqopt._door import open_door

if TYPE_CHECKING:
    from smqopt.query._answer import answer as answer, answer_by_group as answer_by_group
    from smqopt.query._possible_values import is_possible as is_possible, kept_answer as kept_answer
    from smqopt.query._private_answer import (
        NOISE_LEVEL as NOISE_LEVEL,
        Answer as Answer,
        broker_record as broker_record,
        caution as caution,
    )
    from smqopt.query._publication import (
        grid_of as grid_of,
        public_record as public_record,
        record_on_grid as record_on_grid,
    )
    from smqopt.query._purchase import Purchase as Purchase
    from smqopt.query._repeats import PrivacyWarning as PrivacyWarning, warn_of_all as warn_of_all
    from smqopt.query.audit._exact_audit import audit_privacy as audit_privacy
    from smqopt.query.audit._privacy_loss import PrivacyLoss as PrivacyLoss, audit_query as audit_query
    from smqopt.query.error._entry_prior import EntryPrior as EntryPrior
    from smqopt.query.error._estimate import WEIGHTINGS as WEIGHTINGS
    from smqopt.query.error._fit import ESTIMATORS as ESTIMATORS, fit as fit, variance_of as variance_of
    from smqopt.query.error._predict import predict as predict, predict_from as predict_from
    from smqopt.query.error._prediction import Prediction as Prediction
    from smqopt.query.exponential._exponential_law import pe_law as pe_law
    from smqopt.query.exponential._order_statistic import ranks_off_at as ranks_off_at
    from smqopt.query.exponential._rank_of_parts import NearRank as NearRank
    from smqopt.query.exponential._score import Score as Score
    from smqopt.query.ledger._charge import Charge as Charge
    from smqopt.query.ledger._ledger import EVERYBODY as EVERYBODY, Ledger as Ledger
    from smqopt.query.ledger._shares import (
        checked_share as checked_share,
        equal_shares as equal_shares,
        given_shares as given_shares,
        part_of as part_of,
    )
    from smqopt.query.linear._linear_release import LinearRelease as LinearRelease
    from smqopt.query.linear._release_of_parts import ReleaseOfParts as ReleaseOfParts, form_of_one as form_of_one
    from smqopt.query.queries._count import Count as Count
    from smqopt.query.queries._histogram import Histogram as Histogram
    from smqopt.query.queries._joint_histogram import JointHistogram as JointHistogram
    from smqopt.query.queries._linear_predictor import LinearPredictor as LinearPredictor
    from smqopt.query.queries._median import Median as Median
    from smqopt.query.queries._own_query import OwnQuery as OwnQuery
    from smqopt.query.queries._quantile import Quantile as Quantile
    from smqopt.query.queries._query import (
        FittedQuery as FittedQuery,
        PopulationQuery as PopulationQuery,
        Value as Value,
    )
    from smqopt.query.queries._weighted_sum import Mean as Mean, Sum as Sum, WeightedSum as WeightedSum
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
