"""
What each budget buys, where coverage must be paid for
======================================================

A frontier that begins where the constraints can be paid for.

.. model:: frontier-with-coverage
"""

import smqopt as smq

model = smq.load_model("frontier-with-coverage")
solution = smq.solve(model.market, model.budget, constraints=model.constraints)
certificate = smq.verify(solution)
certificate

# %%
# Below a certain budget no prices keep the floor, so the curve begins to the right of zero.

ax = smq.frontier(model.market, constraints=model.constraints).plot()
ax.plot(solution.budget, solution.purchased_privacy, "o")
