"""
A crowd of two kinds
====================

A mixture: most owners ask little, some ask much, and nobody knows who is who.

.. model:: two-kinds-of-owners
"""

import matplotlib.pyplot as plt
import numpy as np

import smqopt as smq

model = smq.load_model("two-kinds-of-owners")
solution = smq.solve(model.market, model.budget)
certificate = smq.verify(solution)
certificate

# %%
# The virtual cost of a mixture need not rise: a price between the two kinds buys little more.

fig, ax = plt.subplots(layout="constrained")
law = model.market.valuation
theta = np.linspace(float(model.market.low.min()), float(model.market.high.max()), 401)[1:-1]
ax.plot(theta, law.virtual_cost(theta))
ax.set(xlabel="valuation θ (currency)", ylabel="virtual cost J(θ) (currency)")
