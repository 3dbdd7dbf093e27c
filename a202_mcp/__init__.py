"""The shell of A202: the only place with effects. State, private keys in memory, clock, surfaces."""
