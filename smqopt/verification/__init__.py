"""The judge: bounds, residuals and certificates."""

from typing import TYPE_CHECKING

from smqopt._door import open_door

if TYPE_CHECKING:
    from smqopt.verification._verify import verify as verify
    from smqopt.verification.certificate._certificate import (
        CERTIFICATE_FILE as CERTIFICATE_FILE,
        Certificate as Certificate,
        content_hash as content_hash,
    )
    from smqopt.verification.certificate._claims import refuse_false_claims as refuse_false_claims
    from smqopt.verification.certificate._judge import Judgement as Judgement, bounds as bounds, judge as judge
    from smqopt.verification.certificate._provenance import is_sealed as is_sealed
    from smqopt.verification.certificate._threshold_bounds import ThresholdBounds as ThresholdBounds
    from smqopt.verification.checks._check import Check as Check
    from smqopt.verification.checks._weak_duality import (
        expected_spend as expected_spend,
        purchased_privacy as purchased_privacy,
        upper_bound as upper_bound,
        weights as weights,
    )
    from smqopt.verification.proof._proof import Proof as Proof
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
