"""What a mandate permits: paths, constraints, scope, delegation, approvals, the numbered evaluation."""
