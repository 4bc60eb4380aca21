"""
A budget that never breaks, and nobody loses
============================================

Offers made one after the other while the money lasts, and the budget to solve for that is sure to buy most.

.. model:: while-it-lasts
"""

import matplotlib.pyplot as plt
import numpy as np

import smqopt as smq

model = smq.load_model("while-it-lasts")
certificate = smq.verify(model.sought.solution)
outcome = smq.procure(certificate, model.reports, model.payments, money=model.money)
round(model.budget, 3), outcome.total_payment <= model.money, int(outcome.skipped.sum())

# %%
# The purse holds 9. Thresholds for a little less are sure to buy most: for more, owners are passed over; for less, money is left.

budgets = np.linspace(2, 14, 60)
offers = [smq.solve(model.market, budget) for budget in budgets]
fig, ax = plt.subplots(layout="constrained")
ax.plot(budgets, [smq.guaranteed_privacy(solution, model.money) for solution in offers], label="bought at least")
ax.axhline(model.sought.most, color="0.5", ls="--", label="bought at most, by any purchase for 9")
ax.axvline(model.budget, color="0.8")
ax.set(xlabel="budget solved for (currency)", ylabel="purchased privacy (units of ε)")
ax.legend()
