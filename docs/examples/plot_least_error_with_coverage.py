"""
The least error, and no city left out
=====================================

The least error under a floor of sellers in each city, for more owners than are in the market.

.. model:: least-error-with-coverage
"""

import matplotlib.pyplot as plt

import smqopt as smq

model = smq.load_model("least-error-with-coverage")
solution = smq.solve(model.market, model.budget, objective=model.objective, constraints=model.constraints)
certificate = smq.verify(solution)
round(solution.error, 4), round(certificate.error_bound, 4), certificate.grade

# %%
# The constraints hold for both purchases; their prices stand in every half-plane.

plain = smq.solve(model.market, model.budget, constraints=model.constraints)
fig, ax = plt.subplots(layout="constrained")
ax.scatter(model.market.epsilon, plain.acceptance, s=12, label="for purchased privacy")
ax.scatter(model.market.epsilon, solution.acceptance, s=12, label="for the error")
ax.set(xlabel="privacy requirement ε (nats)", ylabel="acceptance q*")
ax.legend()
