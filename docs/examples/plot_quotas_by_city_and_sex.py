"""
A panel that looks like its population
======================================

Quotas: a table with one row a stratum, by crossed columns, and a share of those who sell.

.. model:: quotas-by-city-and-sex
"""

import matplotlib.pyplot as plt

import smqopt as smq

model = smq.load_model("quotas-by-city-and-sex")
solution = smq.solve(model.market, model.budget, constraints=model.constraints)
certificate = smq.verify(solution)
certificate

# %%
# What each quota demands, and its shadow price: the privacy lost for one more owner. Strata that
# sell enough anyway cost nothing.

fig, ax = plt.subplots(layout="constrained")
words = [record.words.replace(" of the expected owners", "") for record in model.constraints]
words = [text.replace(" expected owners of", "") for text in words]
ax.barh(words[::-1], solution.constraint_prices[::-1])
ax.set(xlabel="shadow price (nats for one more owner)")
