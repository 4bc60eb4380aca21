"""
One price for each postcode
===========================

Common prices over laws by age: a postcode is one owner, with the sum of its residents' curves.

.. model:: one-price-per-postcode
"""

import matplotlib.pyplot as plt
import numpy as np

import smqopt as smq

model = smq.load_model("one-price-per-postcode")
solution = smq.solve(model.market, model.budget, constraints=model.constraints)
certificate = smq.verify(solution)
certificate

# %%
# At the price of her postcode an old resident sells less often than a young one.

postcode, age = model.market.groups["postcode"], model.market.groups["age"]
places = sorted(set(postcode.tolist()))
fig, (left, right) = plt.subplots(1, 2, figsize=(8, 4), layout="constrained")
left.bar(places, [solution.thresholds[postcode == place][0] for place in places])
left.set(xlabel="postcode", ylabel="common price (currency)")
order = np.argsort(postcode, kind="stable")
for label in sorted(set(age.tolist())):
    rows = order[age[order] == label]
    right.scatter(postcode[rows], solution.acceptance[rows], s=16, label=label)
right.set(xlabel="postcode", ylabel="acceptance probability F(θ*)")
right.legend(title="age")
