"""
An answer that no selection can bias
====================================

Prices drawn at random, so that every report sells with a known chance; the worst-case error, under each requirement.

.. model:: random-prices
"""

import matplotlib.pyplot as plt
import numpy as np

import smqopt as smq

model = smq.load_model("random-prices")
solution = smq.solve(model.market, model.budget, objective=model.objective)
certificate = smq.verify(solution)
round(solution.error, 4), round(certificate.error_bound, 4), certificate.valid

# %%
# Whoever reports more sells less often, and never quite never: small requirements hold the chance up.

chances = solution.random_prices.on(model.market, model.objective)
reports = np.linspace(0, 1, 200)
fig, ax = plt.subplots(layout="constrained")
for row in np.argsort(model.market.epsilon)[[5, 24, 47]]:
    rows = np.full(reports.size, row)
    label = f"ε = {model.market.epsilon[row]:.2f}, shrunk to {chances.shrinkage[row]:.2f}"
    ax.plot(reports, chances.at_report(rows, reports), label=label)
ax.set(xlabel="report (currency)", ylabel="chance of sale Q")
ax.legend()
