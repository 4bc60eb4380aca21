"""
The answer nearest the truth
============================

Another objective: the least error of the linear release, weights and offers chosen together.

.. model:: least-error
"""

import matplotlib.pyplot as plt

import smqopt as smq

model = smq.load_model("least-error")
solution = smq.solve(model.market, model.budget, objective=model.objective)
certificate = smq.verify(solution)
round(solution.error, 4), round(certificate.error_bound, 4), certificate.grade

# %%
# No entry weighs more than τ, so the error asks less of dear requirements, and more of small ones.

plain = smq.solve(model.market, model.budget)
fig, ax = plt.subplots(layout="constrained")
ax.scatter(model.market.epsilon, plain.acceptance, s=12, label="for purchased privacy")
ax.scatter(model.market.epsilon, solution.acceptance, s=12, label="for the error")
ax.set(xlabel="privacy requirement ε (nats)", ylabel="acceptance q*")
ax.legend()
