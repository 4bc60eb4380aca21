"""
How accurate can the count be?
==============================

Lemma 1: a level of purchased privacy that is necessary for an accuracy, and guarantees nothing.

.. model:: necessary-privacy
"""

import smqopt as smq

model = smq.load_model("necessary-privacy")
solution = smq.solve(model.market, model.budget)
certificate = smq.verify(solution)
certificate

# %%
# An accuracy needs at least so much purchased privacy (the line); reaching it promises nothing.

ax = smq.frontier(model.market).plot()
needed = smq.necessary_privacy("count", alpha=5, delta=0.95, market=model.market)
ax.axhline(needed.level, linestyle="--", linewidth=1)
