"""
Three cities, three laws of valuations
======================================

A law for each group: thresholds differ between owners with the same requirement.

.. model:: heterogeneous-regions
"""

import matplotlib.pyplot as plt

import smqopt as smq

model = smq.load_model("heterogeneous-regions")
solution = smq.solve(model.market, model.budget)
certificate = smq.verify(solution)
certificate

# %%
# Owners with the same requirement are offered different prices in different cities.

fig, ax = plt.subplots(layout="constrained")
for label in sorted(set(model.market.groups["city"])):
    rows = model.market.groups["city"] == label
    ax.scatter(model.market.epsilon[rows], solution.thresholds[rows], s=16, label=label)
ax.set(xlabel="privacy requirement ε (nats)", ylabel="threshold θ* (currency)")
ax.legend()
