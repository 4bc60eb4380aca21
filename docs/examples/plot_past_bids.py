"""
A law estimated from past bids
==============================

An empirical law: a histogram of bids, ironed where it is irregular.

.. model:: past-bids
"""

import matplotlib.pyplot as plt
import numpy as np

import smqopt as smq

model = smq.load_model("past-bids")
solution = smq.solve(model.market, model.budget)
certificate = smq.verify(solution)
certificate

# %%
# The distribution is a histogram of past bids. Its virtual cost falls here and there, and is
# ironed.

fig, ax = plt.subplots(layout="constrained")
price = np.linspace(float(model.market.low.min()), float(model.market.high.max()), 400)
law = model.market.valuation
ax.plot(price, law.cdf(price), label="share of bids at most θ")
ax.set(xlabel="valuation θ (currency)", ylabel="probability")
ax.legend()
