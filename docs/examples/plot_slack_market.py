"""
More money than owners
======================

A slack budget: its price is 0, everybody sells for sure, and the rest is not spent.

.. tab-set::

   .. tab-item:: Model file
      :sync: toml

      .. literalinclude:: ../../models/slack-market.toml
         :language: toml

   .. tab-item:: Command line
      :sync: cli

      .. code-block:: console

         $ smqopt run slack-market --out out

   .. tab-item:: Python
      :sync: python

      The program below.
"""

import matplotlib.pyplot as plt

import smqopt as smq

model = smq.load_model("slack-market")
solution = smq.solve(model.market, model.budget)
certificate = smq.verify(solution)
certificate

# %%
# There is more money than owners ask for: everybody is offered the most, and the shadow price is
# 0.

fig, ax = plt.subplots(layout="constrained")
frontier = smq.frontier(model.market)
ax.plot(frontier.budgets, frontier.purchased_privacy)
ax.plot(solution.budget, solution.purchased_privacy, "o")
ax.set(xlabel="budget B (currency)", ylabel="purchased privacy V(B) (nats)")
