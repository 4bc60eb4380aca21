"""
More money than owners
======================

A slack budget: its price is 0, everybody sells for sure, and the rest is not spent.

.. model:: slack-market
"""

import smqopt as smq

model = smq.load_model("slack-market")
solution = smq.solve(model.market, model.budget)
certificate = smq.verify(solution)
certificate

# %%
# There is more money than owners ask for: everybody is offered the most, and the shadow price is
# 0.

ax = smq.frontier(model.market).plot()
ax.plot(solution.budget, solution.purchased_privacy, "o")
