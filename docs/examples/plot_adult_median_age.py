"""
Adult: what is the median age?
==============================

The paper's second query: a median, over a public range of entries.

.. tab-set::

   .. tab-item:: Model file
      :sync: toml

      .. literalinclude:: ../../models/adult-median-age.toml
         :language: toml

   .. tab-item:: Command line
      :sync: cli

      .. code-block:: console

         $ smqopt run adult-median-age --out out

   .. tab-item:: Python
      :sync: python

      The program below.
"""

import matplotlib.pyplot as plt

import smqopt as smq

model = smq.load_model("adult-median-age")
solution = smq.solve(model.market, model.budget)
certificate = smq.verify(solution)
certificate

# %%
# With one distribution for all, prices rise with requirements; nobody is paid more than the
# highest valuation.

fig, ax = plt.subplots(layout="constrained")
ax.scatter(model.market.epsilon, solution.thresholds, s=12)
ax.set(xlabel="privacy requirement ε (nats)", ylabel="threshold θ* (currency)")
