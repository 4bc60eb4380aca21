"""
The most accurate estimate of a total
=====================================

Another objective: the smallest variance of the inverse-probability estimator; requirements play
no part.

.. tab-set::

   .. tab-item:: Model file
      :sync: toml

      .. literalinclude:: ../../models/minimum-variance.toml
         :language: toml

   .. tab-item:: Command line
      :sync: cli

      .. code-block:: console

         $ smqopt run minimum-variance --out out

   .. tab-item:: Python
      :sync: python

      The program below.
"""

import matplotlib.pyplot as plt

import smqopt as smq

model = smq.load_model("minimum-variance")
solution = smq.solve(model.market, model.budget, objective=model.objective)
certificate = smq.verify(solution)
certificate

# %%
# The variance does not look at requirements, so all owners of one distribution face one price.

fig, ax = plt.subplots(layout="constrained")
ax.scatter(model.market.epsilon, solution.thresholds, s=12)
ax.set(xlabel="privacy requirement ε (nats)", ylabel="threshold θ* (currency)")
