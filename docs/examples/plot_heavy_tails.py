"""
A few owners ask for a fortune
==============================

Heavy tails: what buying from everybody would cost says little about a good budget.

.. model:: heavy-tails
"""

import smqopt as smq

model = smq.load_model("heavy-tails")
solution = smq.solve(model.market, model.budget)
certificate = smq.verify(solution)
certificate

# %%
# The support reaches to 1,000, far beyond the prices: what buying from everybody would cost says
# little.

ax = solution.plot()
ax.set_ylim(0, 1.2 * solution.thresholds.max())
