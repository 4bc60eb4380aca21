"""
A purse for each city
=====================

Group budgets: owners of different cities face different prices of the budget.

.. model:: group-budgets
"""

import matplotlib.pyplot as plt

import smqopt as smq

model = smq.load_model("group-budgets")
solution = smq.solve(model.market, model.budget, constraints=model.constraints)
certificate = smq.verify(solution)
certificate

# %%
# Each city has its own budget, and so its own shadow price.

fig, ax = plt.subplots(layout="constrained")
for label in sorted(set(model.market.groups["city"])):
    rows = model.market.groups["city"] == label
    ax.scatter(model.market.epsilon[rows], solution.thresholds[rows], s=16, label=label)
ax.set(xlabel="privacy requirement ε (nats)", ylabel="threshold θ* (currency)")
ax.legend()
