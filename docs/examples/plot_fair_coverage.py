"""
No city left out of the sample
==============================

Coverage: a floor under the expected number of sellers of each city, and its price in privacy.

.. model:: fair-coverage
"""

import matplotlib.pyplot as plt

import smqopt as smq

model = smq.load_model("fair-coverage")
solution = smq.solve(model.market, model.budget, constraints=model.constraints)
certificate = smq.verify(solution)
certificate

# %%
# Where the floor binds, a city's owners are offered more for the same requirement.

fig, ax = plt.subplots(layout="constrained")
for label in sorted(set(model.market.groups["city"])):
    rows = model.market.groups["city"] == label
    ax.scatter(model.market.epsilon[rows], solution.thresholds[rows], s=16, label=label)
ax.set(xlabel="privacy requirement ε (nats)", ylabel="threshold θ* (currency)")
ax.legend()
