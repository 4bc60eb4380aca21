"""The symbolic story of OP2: steps as data, each checked, from the law of valuations to thresholds and the budget price."""
