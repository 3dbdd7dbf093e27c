"""The cases of our own suite, one module per family. Importing this package registers them all."""

from conformance.cases import (  # importing registers
    agreements,
    bundles,
    disputes,
    events,
    evidence,
    grades,
    invitations,
    mandates,
    obligations,
    offers,
    parties,
    settlement,
)
from conformance.cases.registry import CASES, Case

__all__ = [
    "CASES", "Case", "agreements", "bundles", "disputes", "events", "evidence", "grades", "invitations", "mandates",
    "obligations", "offers", "parties", "settlement"]
