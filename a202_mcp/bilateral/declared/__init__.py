"""The seven tools as clients see them. Nothing here loads the core: a tool list costs no more than itself (ADR 11)."""
