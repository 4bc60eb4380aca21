"""Verify solutions: bounds, residuals, proofs and certificates."""

from typing import TYPE_CHECKING

from smqopt._door import open_door

if TYPE_CHECKING:
    from smqopt.verification._owner_sums import (
        BEYOND as BEYOND,
        MOST_IN_BALLS as MOST_IN_BALLS,
        distance_to_response as distance_to_response,
        owner_sums as owner_sums,
        way_of as way_of,
    )
    from smqopt.verification._verify import verify as verify
    from smqopt.verification.certificate._assessment import Assessment as Assessment, assess as assess
    from smqopt.verification.certificate._bounds import bounds as bounds
    from smqopt.verification.certificate._certificate import (
        CERTIFICATE_FILE as CERTIFICATE_FILE,
        Certificate as Certificate,
    )
    from smqopt.verification.certificate._claims import (
        UNCHECKED as UNCHECKED,
        refuse_false_claims as refuse_false_claims,
    )
    from smqopt.verification.certificate._content_hash import content_hash as content_hash
    from smqopt.verification.certificate._file_integrity import digest as digest
    from smqopt.verification.certificate._provenance import is_unchanged as is_unchanged, record_claims as record_claims
    from smqopt.verification.certificate._threshold_bounds import ThresholdBounds as ThresholdBounds
    from smqopt.verification.checks._check import Check as Check
    from smqopt.verification.checks._hidden import may_hide as may_hide
    from smqopt.verification.checks._weak_duality import (
        expected_spend as expected_spend,
        purchased_privacy as purchased_privacy,
        upper_bound as upper_bound,
        weights as weights,
    )
    from smqopt.verification.proof._proof import Proof as Proof
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
