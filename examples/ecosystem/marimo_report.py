"""A picture that follows its settings. Run: marimo edit examples/ecosystem/marimo_report.py

Needs polars-scorio[plot] and marimo. It reads rollouts.parquet in the current folder, which
`python examples/rollouts.py rollouts.parquet` writes; put your own log in its place.
"""
# ruff: noqa: ANN001, ANN201, B018, D103, PLC0415 - the form of cells is marimo's

import marimo

__generated_with = "0.25.2"
app = marimo.App()


@app.cell
def read_log():
    import marimo as mo
    import polars as pl

    import polars_scorio as ps

    log = pl.read_parquet("rollouts.parquet")
    return log, mo, pl, ps


@app.cell
def choose(log, mo):
    domain = mo.ui.dropdown(log["domain"].unique(maintain_order=True), value="airline")
    k = mo.ui.slider(1, 8, value=4, label="k")
    mo.hstack([domain, k])
    return domain, k


@app.cell
def settings(domain, k):
    chosen, trials = domain.value, k.value
    return chosen, trials


@app.cell
def draw(chosen, log, pl, ps, trials):
    in_domain = log.filter(pl.col("domain") == chosen).scorio
    picture = in_domain.plot.intervals(ps.pass_hat_k(trials))
    picture
    return (picture,)


if __name__ == "__main__":
    app.run()
