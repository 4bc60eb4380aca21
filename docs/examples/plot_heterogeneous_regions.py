"""
Three cities, three laws of valuations
======================================

A law for each group: thresholds differ between owners with the same requirement.

.. tab-set::

   .. tab-item:: Model file
      :sync: toml

      .. literalinclude:: ../../models/heterogeneous-regions.toml
         :language: toml

   .. tab-item:: Command line
      :sync: cli

      .. code-block:: console

         $ smqopt run heterogeneous-regions --out out

   .. tab-item:: Python
      :sync: python

      The program below.
"""

import matplotlib.pyplot as plt

import smqopt as smq

model = smq.load_model("heterogeneous-regions")
solution = smq.solve(model.market, model.budget)
certificate = smq.verify(solution)
certificate

# %%
# Owners with the same requirement are offered different prices in different cities.

fig, ax = plt.subplots(layout="constrained")
for label in sorted(set(model.market.groups["city"])):
    rows = model.market.groups["city"] == label
    ax.scatter(model.market.epsilon[rows], solution.thresholds[rows], s=16, label=label)
ax.set(xlabel="privacy requirement ε (nats)", ylabel="threshold θ* (currency)")
ax.legend()
