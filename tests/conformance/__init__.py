"""The conformance suite: small programs that mean the same run as plain Python, compiled, and under a tape."""
