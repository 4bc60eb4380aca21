"""
What must be spent for this much?
=================================

A question: the least budget for a purchased privacy, bounded from both sides.

.. model:: least-budget
"""

import smqopt as smq

model = smq.load_model("least-budget")
solution = smq.solve(model.market, model.budget)
certificate = smq.verify(solution)
certificate

# %%
# The least budget is where the frontier reaches the privacy that was asked for.

ax = smq.frontier(model.market).plot()
ax.axhline(solution.purchased_privacy, linestyle="--", linewidth=1)
ax.plot(solution.budget, solution.purchased_privacy, "o")
