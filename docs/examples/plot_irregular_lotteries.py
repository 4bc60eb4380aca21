"""
Where one price is not enough
=============================

An irregular law: the cost curve is ironed, and owners on its flat piece draw between two prices.

.. model:: irregular-lotteries
"""

import matplotlib.pyplot as plt

import smqopt as smq

model = smq.load_model("irregular-lotteries")
solution = smq.solve(model.market, model.budget)
certificate = smq.verify(solution)
certificate

# %%
# The virtual cost falls at .9. Some owners draw between two prices; both are shown.

fig, ax = plt.subplots(layout="constrained")
ax.scatter(model.market.epsilon, solution.thresholds, s=16, label="threshold")
if solution.lottery is not None:
    drawn = model.market.epsilon[solution.lottery.owner]
    ax.scatter(drawn, solution.lottery.low, s=16, label="lower price of a lottery")
    ax.scatter(drawn, solution.lottery.high, s=16, label="higher price of a lottery")
ax.set(xlabel="privacy requirement ε (nats)", ylabel="price (currency)")
ax.legend()
