"""The documents of the suite's world: ten tank gauges are calibrated for 1250.00 EUR.

Each builder gives a complete, valid document. Keyword arguments replace members of the payload (of the whole
document for mandates and grades), so that a case says only what is different about it.
"""
