"""
A few owners ask for a fortune
==============================

Heavy tails: what buying from everybody would cost says little about a good budget.

.. model:: heavy-tails
"""

import matplotlib.pyplot as plt

import smqopt as smq

model = smq.load_model("heavy-tails")
solution = smq.solve(model.market, model.budget)
certificate = smq.verify(solution)
certificate

# %%
# The support reaches to 1,000, far beyond the prices: what buying from everybody would cost says
# little.

fig, ax = plt.subplots(layout="constrained")
ax.scatter(model.market.epsilon, solution.thresholds, s=12)
ax.set(xlabel="privacy requirement ε (nats)", ylabel="threshold θ* (currency)")
