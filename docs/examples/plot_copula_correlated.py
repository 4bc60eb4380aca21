"""
Adult: who values privacy more asks for more of it
==================================================

Valuations that depend on requirements: the law given each owner's requirement keeps the budget
that the marginal law breaks.

.. model:: copula-correlated
"""

import matplotlib.pyplot as plt

import smqopt as smq

model = smq.load_model("copula-correlated")
solution = smq.solve(model.market, model.budget)
certificate = smq.verify(solution)
certificate

# %%
# Who requires more privacy asks for more, so acceptance differs from what the marginal
# distribution says.

fig, ax = plt.subplots(layout="constrained")
marginal = smq.solve(smq.Market(model.market.epsilon, smq.Uniform(0, 1)), model.budget)
ax.scatter(model.market.epsilon, solution.acceptance, s=2, label="given each owner's ε")
ax.scatter(model.market.epsilon, marginal.acceptance, s=2, label="by the marginal distribution")
ax.set(xlabel="privacy requirement ε (nats)", ylabel="acceptance probability")
ax.legend()
