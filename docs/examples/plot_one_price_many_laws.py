"""
One price for each city, whose women and men value privacy by different laws
============================================================================

One common price for owners of different laws: each city is one pooled owner, whose curve is
ironed.

.. model:: one-price-many-laws
"""

import matplotlib.pyplot as plt

import smqopt as smq

model = smq.load_model("one-price-many-laws")
solution = smq.solve(model.market, model.budget, constraints=model.constraints)
certificate = smq.verify(solution)
certificate

# %%
# Each city has one price, although its women and men value privacy by different distributions.

fig, ax = plt.subplots(layout="constrained")
for label in sorted(set(model.market.groups["city"])):
    rows = model.market.groups["city"] == label
    ax.scatter(model.market.epsilon[rows], solution.thresholds[rows], s=16, label=label)
ax.set(xlabel="privacy requirement ε (nats)", ylabel="threshold θ* (currency)")
ax.legend()
