"""Made logs of verdicts, of which people labelled a part."""

import numpy as np
import polars as pl

RATES = (0.88, 0.8)


def verdicts(
    models=("a", "b", "c"),
    questions=30,
    trials=4,
    share=0.4,
    seed=1,
    rates=RATES,
    power=1.0,
) -> pl.DataFrame:
    """Trials with a verdict, the truth, and labels (`human`) on a share of them.

    `rates` are the sensitivity and the specificity of the judge. With a higher
    `power` fewer answers are right.
    """
    random = np.random.default_rng(seed)
    shape = len(models), questions, trials
    solved = random.beta(1, 1, (len(models), questions, 1)) ** power
    truth = random.random(shape) < solved
    verdict = random.random(shape) < np.where(truth, rates[0], 1 - rates[1])
    labelled = random.random(shape) < share
    model, question, trial = (each.ravel() for each in np.indices(shape))
    frame = pl.DataFrame(
        {
            "model": np.array(models)[model],
            "question": question,
            "trial": trial,
            "category": verdict.ravel(),
            "truth": truth.ravel(),
        }
    )
    return frame.with_columns(human=pl.when(pl.Series(labelled.ravel())).then("truth"))
