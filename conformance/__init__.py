"""The conformance suite: manifest, fixtures, vectors and runner."""
