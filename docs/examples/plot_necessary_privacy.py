"""
How accurate can the count be?
==============================

Lemma 1: a level of purchased privacy that is necessary for an accuracy, and guarantees nothing.

.. tab-set::

   .. tab-item:: Model file
      :sync: toml

      .. literalinclude:: ../../models/necessary-privacy.toml
         :language: toml

   .. tab-item:: Command line
      :sync: cli

      .. code-block:: console

         $ smqopt run necessary-privacy --out out

   .. tab-item:: Python
      :sync: python

      The program below.
"""

import matplotlib.pyplot as plt

import smqopt as smq

model = smq.load_model("necessary-privacy")
solution = smq.solve(model.market, model.budget)
certificate = smq.verify(solution)
certificate

# %%
# An accuracy needs at least so much purchased privacy (the line); reaching it promises nothing.

fig, ax = plt.subplots(layout="constrained")
frontier = smq.frontier(model.market)
ax.plot(frontier.budgets, frontier.purchased_privacy)
needed = smq.necessary_privacy("count", alpha=5, delta=0.95, market=model.market)
ax.axhline(needed.level, linestyle="--", linewidth=1)
ax.set(xlabel="budget B (currency)", ylabel="purchased privacy V(B) (nats)")
