"""
The most accurate estimate of a total
=====================================

Another objective: the smallest variance of the inverse-probability estimator; requirements play
no part.

.. model:: minimum-variance
"""

import smqopt as smq

model = smq.load_model("minimum-variance")
solution = smq.solve(model.market, model.budget, objective=model.objective)
certificate = smq.verify(solution)
certificate

# %%
# The variance does not look at requirements, so all owners of one distribution face one price.

solution.plot()
