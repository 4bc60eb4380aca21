"""
Two buyers who share owners
===========================

Group budgets: a payment to an owner whom both ask may come from either purse.

.. model:: two-buyers
"""

import matplotlib.pyplot as plt

import smqopt as smq

model = smq.load_model("two-buyers")
solution = smq.solve(model.market, model.budget, constraints=model.constraints)
certificate = smq.verify(solution)
certificate

# %%
# Owners of one requirement are offered less where the buyer who asks them alone runs out of money.

fig, ax = plt.subplots(layout="constrained")
for label in ("hospital", "registry", "both"):
    rows = model.market.groups["buyer"] == label
    spent = solution.spend[rows].sum()
    ax.scatter(model.market.epsilon[rows], solution.thresholds[rows], s=16, label=f"{label}: {spent:.2f}")
ax.set(xlabel="privacy requirement ε (nats)", ylabel="threshold θ* (currency)")
ax.legend(title="asked by: expected spend")
