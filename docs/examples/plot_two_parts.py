"""
A market in two files
=====================

Owners stay in a folder of Parquet, two files here, as many as it takes; every step reads and writes it file by file.

.. model:: two-parts
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import pyarrow.parquet as pq
from distributed import Client

import smqopt as smq
from smqopt.model_files import read_model

model = read_model("two-parts")
market = smq.ParquetMarket(model.owners.folder, model.valuation, owner_id="owner", groups=["city"])
client = Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0")
out = Path(tempfile.mkdtemp()) / "out"
solution = smq.solve(market, model.budget, constraints=model.constraints, client=client, out=out)
certificate = smq.verify(solution, client=client)
client.close()
certificate

# %%
# Thresholds lie beside the owners, one file a part. Those of Tromsø are offered more: the floor binds.

fig, ax = plt.subplots(layout="constrained")
for city in ("Bergen", "Oslo", "Tromsø"):
    for part, marker in zip(solution.parts, ("o", "s"), strict=True):
        owners, offers = pq.read_table(market.folder / part.name), pq.read_table(solution.file_of(part))
        rows = [k for k, label in enumerate(owners["city"].to_pylist()) if label == city]
        ax.scatter(
            owners["epsilon"].to_numpy()[rows], offers["threshold"].to_numpy()[rows], s=16, marker=marker,
            color=f"C{('Bergen', 'Oslo', 'Tromsø').index(city)}", label=f"{city}, {part.name}",
        )  # fmt: skip
ax.set(xlabel="privacy requirement ε (nats)", ylabel="threshold θ* (currency)")
ax.legend()
