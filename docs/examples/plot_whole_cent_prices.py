"""
Prices in whole steps of five cents
===================================

A price list: between two listed prices a lottery buys most, and truthfulness is kept.

.. model:: whole-cent-prices
"""

import matplotlib.pyplot as plt

import smqopt as smq

model = smq.load_model("whole-cent-prices")
solution = smq.solve(model.market, model.budget, constraints=model.constraints)
certificate = smq.verify(solution)
certificate

# %%
# Prices are whole steps of five cents; some owners draw between two neighbours.

fig, ax = plt.subplots(layout="constrained")
ax.scatter(model.market.epsilon, solution.thresholds, s=16, label="listed price, or the lower of two")
if solution.lottery is not None:
    ax.scatter(model.market.epsilon[solution.lottery.owner], solution.lottery.high, s=16, label="the higher of two")
ax.set(xlabel="privacy requirement ε (nats)", ylabel="price (currency)")
ax.legend()
