"""The exchange member: ManyLives AXP/1 over the same workspace as the other surfaces."""
