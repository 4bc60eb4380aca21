"""
One price for each city
=======================

Common prices: owners who share a price are one owner with their mean requirement.

.. model:: one-price-per-city
"""

import matplotlib.pyplot as plt

import smqopt as smq

model = smq.load_model("one-price-per-city")
solution = smq.solve(model.market, model.budget, constraints=model.constraints)
certificate = smq.verify(solution)
certificate

# %%
# Each city has one price: its owners count as one, with their mean requirement.

fig, ax = plt.subplots(layout="constrained")
for label in sorted(set(model.market.groups["city"])):
    rows = model.market.groups["city"] == label
    ax.scatter(model.market.epsilon[rows], solution.thresholds[rows], s=16, label=label)
ax.set(xlabel="privacy requirement ε (nats)", ylabel="threshold θ* (currency)")
ax.legend()
