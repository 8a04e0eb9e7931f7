"""What the intervals of metrics are called."""

import polars_scorio as ps
from polars_scorio.display.metric_titles import inference_words, interval_words


def test_votes_have_one_interval_under_any_inference():
    published = {"inference": "published"}
    assert inference_words(published, [ps.vote_at_k(3)]) == "calibrated"
    both = inference_words(published, [ps.avg(), ps.vote_at_k(3)])
    assert both == "uniform prior, as published (Vote@k: calibrated)"
    assert interval_words(0.95, both) == f"95 % intervals ({both})"


def test_means_of_powers_and_posterior_means_are_not_calibrated():
    calibrated = {"inference": "calibrated", "target": "population"}
    assert inference_words(calibrated, [ps.geom_at_k(2), ps.bayes()]) == (
        "fitted population, questions as a sample"
    )
    both = inference_words(calibrated, [ps.geom_at_k([1, 2]), ps.avg()])
    assert interval_words(0.9, both) == (
        "calibrated 90 % intervals (Geom@k: fitted population), questions as a sample"
    )
