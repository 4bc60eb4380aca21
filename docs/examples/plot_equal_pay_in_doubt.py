"""
Equal pay, whichever law is true
================================

Parity of payments under scenarios: budget and parity hold under each of two laws.

.. model:: equal-pay-in-doubt
"""

import matplotlib.pyplot as plt
import numpy as np

import smqopt as smq

model = smq.load_model("equal-pay-in-doubt")
solution = smq.solve(model.market, model.budget, constraints=model.constraints)
certificate = smq.verify(solution)
certificate

# %%
# The mean payment to women and men under each law, from the posted prices alone; some owners draw
# their price, so that no law favours one sex.

drawn = solution.lottery
prices = [np.array([[price]]) for price in solution.thresholds]
shares = [np.array([[1.0 if offered else 0.0]]) for offered in solution.offered]
for place, owner in enumerate(drawn.owner.tolist()):
    prices[owner], shares[owner] = drawn.prices[place], drawn.probabilities[place] * (drawn.acceptances[place] > 0)
fig, ax = plt.subplots(layout="constrained")
for k, law in enumerate(model.market.valuation.laws):
    paid = np.array(
        [
            np.sum(share * price * law.cdf(np.minimum(price, law.high)))
            for price, share in zip(prices, shares, strict=True)
        ]
    )
    means = [paid[model.market.groups["sex"] == sex].mean() for sex in ("f", "m")]
    ax.bar(np.arange(2) + 0.4 * k - 0.2, means, width=0.38, label=f"U(0, {law.high:g})")
ax.set_xticks(range(2), ["women", "men"])
ax.set(ylabel="mean expected payment (currency)")
ax.legend(title="law")
