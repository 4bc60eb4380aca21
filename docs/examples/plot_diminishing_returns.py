"""
A little from many
==================

A concave objective: each further unit of privacy from one owner counts less.

.. model:: diminishing-returns
"""

import matplotlib.pyplot as plt

import smqopt as smq

model = smq.load_model("diminishing-returns")
solution = smq.solve(model.market, model.budget, objective=model.objective)
certificate = smq.verify(solution)
certificate

# %%
# More owners are offered something than where privacy alone counts.

fig, ax = plt.subplots(layout="constrained")
plain = smq.solve(model.market, model.budget)
ax.scatter(model.market.epsilon, solution.thresholds, s=16, label="diminishing returns")
ax.scatter(model.market.epsilon, plain.thresholds, s=16, label="purchased privacy")
ax.set(xlabel="privacy requirement ε (nats)", ylabel="threshold θ* (currency)")
ax.legend()
