"""The version of what is installed."""

from __future__ import annotations

from importlib import metadata


def version() -> str:
    """The installed distribution's version; "0+unknown" where the code runs without being installed."""
    try:
        return metadata.version("a202-mcp")
    except metadata.PackageNotFoundError:
        return "0+unknown"
