"""The pure core of A202: documents, keys and time in, values out. No clock, no disk, no network."""
