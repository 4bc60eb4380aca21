"""
What each budget buys, where coverage must be paid for
======================================================

A frontier that begins where the constraints can be paid for.

.. tab-set::

   .. tab-item:: Model file
      :sync: toml

      .. literalinclude:: ../../models/frontier-with-coverage.toml
         :language: toml

   .. tab-item:: Command line
      :sync: cli

      .. code-block:: console

         $ smqopt run frontier-with-coverage --out out

   .. tab-item:: Python
      :sync: python

      The program below.
"""

import matplotlib.pyplot as plt

import smqopt as smq

model = smq.load_model("frontier-with-coverage")
solution = smq.solve(model.market, model.budget, constraints=model.constraints)
certificate = smq.verify(solution)
certificate

# %%
# Below a certain budget no prices keep the floor, so the curve begins to the right of zero.

fig, ax = plt.subplots(layout="constrained")
frontier = smq.frontier(model.market, constraints=model.constraints)
ax.plot(frontier.budgets, frontier.purchased_privacy)
ax.plot(solution.budget, solution.purchased_privacy, "o")
ax.set(xlabel="budget B (currency)", ylabel="purchased privacy V(B) (nats)")
