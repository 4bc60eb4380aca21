"""
Women and men sell at the same rate
===================================

Parity: an equation between groups has a multiplier of either sign.

.. model:: parity
"""

import matplotlib.pyplot as plt

import smqopt as smq

model = smq.load_model("parity")
solution = smq.solve(model.market, model.budget, constraints=model.constraints)
certificate = smq.verify(solution)
certificate

# %%
# Women and men sell at the same expected rate.

fig, ax = plt.subplots(layout="constrained")
for label in sorted(set(model.market.groups["sex"])):
    rows = model.market.groups["sex"] == label
    ax.scatter(model.market.epsilon[rows], solution.acceptance[rows], s=16, label=label)
ax.set(xlabel="privacy requirement ε (nats)", ylabel="acceptance probability")
ax.legend()
