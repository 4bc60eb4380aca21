"""
A score for a new customer from what similar ones answered
==========================================================

The paper's third query: a linear predictor, whose public weights say how alike each owner is.

.. model:: linear-predictor
"""

import smqopt as smq

model = smq.load_model("linear-predictor")
solution = smq.solve(model.market, model.budget)
certificate = smq.verify(solution)
certificate

# %%
# Weights of the predictor are public; requirements alone set the prices.

solution.plot()
