"""
What must be spent for this much?
=================================

A question: the least budget for a purchased privacy, bounded from both sides.

.. tab-set::

   .. tab-item:: Model file
      :sync: toml

      .. literalinclude:: ../../models/least-budget.toml
         :language: toml

   .. tab-item:: Command line
      :sync: cli

      .. code-block:: console

         $ smqopt run least-budget --out out

   .. tab-item:: Python
      :sync: python

      The program below.
"""

import matplotlib.pyplot as plt

import smqopt as smq

model = smq.load_model("least-budget")
solution = smq.solve(model.market, model.budget)
certificate = smq.verify(solution)
certificate

# %%
# The least budget is where the frontier reaches the privacy that was asked for.

fig, ax = plt.subplots(layout="constrained")
frontier = smq.frontier(model.market)
ax.plot(frontier.budgets, frontier.purchased_privacy)
ax.axhline(solution.purchased_privacy, linestyle="--", linewidth=1)
ax.plot(solution.budget, solution.purchased_privacy, "o")
ax.set(xlabel="budget B (currency)", ylabel="purchased privacy V(B) (nats)")
