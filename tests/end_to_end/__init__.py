"""Whole processes, driven as a client drives them."""
