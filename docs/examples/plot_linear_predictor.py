"""
A score for a new customer from what similar ones answered
==========================================================

The paper's third query: a linear predictor, whose public weights say how alike each owner is.

.. tab-set::

   .. tab-item:: Model file
      :sync: toml

      .. literalinclude:: ../../models/linear-predictor.toml
         :language: toml

   .. tab-item:: Command line
      :sync: cli

      .. code-block:: console

         $ smqopt run linear-predictor --out out

   .. tab-item:: Python
      :sync: python

      The program below.
"""

import matplotlib.pyplot as plt

import smqopt as smq

model = smq.load_model("linear-predictor")
solution = smq.solve(model.market, model.budget)
certificate = smq.verify(solution)
certificate

# %%
# Weights of the predictor are public; requirements alone set the prices.

fig, ax = plt.subplots(layout="constrained")
ax.scatter(model.market.epsilon, solution.thresholds, s=12)
ax.set(xlabel="privacy requirement ε (nats)", ylabel="threshold θ* (currency)")
