"""
Adult: how many earn more than 50,000 dollars a year?
=====================================================

The paper's first query: a count on a real data set.

.. model:: adult-income-count
"""

import smqopt as smq

model = smq.load_model("adult-income-count")
solution = smq.solve(model.market, model.budget)
certificate = smq.verify(solution)
certificate

# %%
# The most privacy that each budget buys. The dot is the model's budget.

ax = smq.frontier(model.market).plot()
ax.plot(solution.budget, solution.purchased_privacy, "o")
