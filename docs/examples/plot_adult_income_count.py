"""
Adult: how many earn more than 50,000 dollars a year?
=====================================================

The paper's first query: a count on a real data set.

.. tab-set::

   .. tab-item:: Model file
      :sync: toml

      .. literalinclude:: ../../models/adult-income-count.toml
         :language: toml

   .. tab-item:: Command line
      :sync: cli

      .. code-block:: console

         $ smqopt run adult-income-count --out out

   .. tab-item:: Python
      :sync: python

      The program below.
"""

import matplotlib.pyplot as plt

import smqopt as smq

model = smq.load_model("adult-income-count")
solution = smq.solve(model.market, model.budget)
certificate = smq.verify(solution)
certificate

# %%
# The most privacy that each budget buys. The dot is the model's budget.

fig, ax = plt.subplots(layout="constrained")
frontier = smq.frontier(model.market)
ax.plot(frontier.budgets, frontier.purchased_privacy)
ax.plot(solution.budget, solution.purchased_privacy, "o")
ax.set(xlabel="budget B (currency)", ylabel="purchased privacy V(B) (nats)")
