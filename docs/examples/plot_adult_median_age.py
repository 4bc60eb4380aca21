"""
Adult: what is the median age?
==============================

The paper's second query: a median, over a public range of entries.

.. model:: adult-median-age
"""

import smqopt as smq

model = smq.load_model("adult-median-age")
solution = smq.solve(model.market, model.budget)
certificate = smq.verify(solution)
certificate

# %%
# With one distribution for all, prices rise with requirements; nobody is paid more than the
# highest valuation.

solution.plot()
