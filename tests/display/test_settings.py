"""The options of a page, in words and as keywords."""

import pytest

from polars_scorio.display.settings import Settings


def test_a_page_is_calibrated_unless_somebody_names_a_prior():
    settings = Settings()
    assert settings.intervals.startswith("calibrated 95 % intervals")
    assert settings.prior_in_words.startswith(
        "no prior; the width comes from 216 fixed populations"
    )
    assert settings.report == {
        "prior": None,
        "target": "benchmark",
        "confidence": 0.95,
    }


@pytest.mark.parametrize("options", [{"prior": "best"}, {"target": "world"}, {"confidence": 95}])
def test_an_option_that_no_page_has_is_refused(options):
    (name,) = options
    with pytest.raises(ValueError, match=name):
        Settings(**options)
