"""The seven-step verification procedure (rules 6.7), one module per step."""
