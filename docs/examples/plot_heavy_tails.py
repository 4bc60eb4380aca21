"""
A few owners ask for a fortune
==============================

Heavy tails: what buying from everybody would cost says little about a good budget.

.. tab-set::

   .. tab-item:: Model file
      :sync: toml

      .. literalinclude:: ../../models/heavy-tails.toml
         :language: toml

   .. tab-item:: Command line
      :sync: cli

      .. code-block:: console

         $ smqopt run heavy-tails --out out

   .. tab-item:: Python
      :sync: python

      The program below.
"""

import matplotlib.pyplot as plt

import smqopt as smq

model = smq.load_model("heavy-tails")
solution = smq.solve(model.market, model.budget)
certificate = smq.verify(solution)
certificate

# %%
# The support reaches far beyond the prices: what buying from everybody would cost says little.

fig, ax = plt.subplots(layout="constrained")
ax.scatter(model.market.epsilon, solution.thresholds, s=12)
ax.set(xlabel="privacy requirement ε (nats)", ylabel="threshold θ* (currency)")
