"""The tests. No property is judged by how fast the machine is that draws its examples."""

from hypothesis import HealthCheck, settings

settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None)
settings.load_profile("any machine")
