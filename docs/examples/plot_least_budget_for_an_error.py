"""
What must be spent to be this near the truth?
=============================================

A question: the least budget for an error, bounded from both sides.

.. model:: least-budget-for-an-error
"""

import matplotlib.pyplot as plt
import numpy as np

import smqopt as smq

model = smq.load_model("least-budget-for-an-error")
found = model.sought
found.error, round(found.budget, 3), round(found.lower_bound, 3), found.certificate.valid

# %%
# The least error that each budget buys; the certificate's bound lies on the curve.

curve = smq.error_frontier(model.market, np.linspace(4, 40, 19), model.objective)
ax = curve.plot()
ax.axhline(found.error, color="0.8")
ax.axvline(found.budget, color="0.8")
plt.gcf().set_layout_engine("constrained")
