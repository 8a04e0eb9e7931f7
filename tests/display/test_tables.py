"""Leaderboards as tables: texts, escapes, notes, colours."""

import polars as pl
import pytest

import polars_scorio as ps
from tests.display.html.logs import models
from tests.made_logs import drawn, long


@pytest.fixture
def board(r1):
    return r1.scorio.leaderboard(ps.bayes(), prior="uniform").drop("bayes_estimate")


@pytest.fixture
def strata():
    """A leaderboard with two strata and two metrics."""
    log = drawn(3, range(7), most=4)
    return log.scorio(by="domain", success=[1, 2]).leaderboard(ps.avg(), ps.pass_hat_k(1))


def made(mu: list[float | None], sigma: list[float], **columns: object) -> pl.DataFrame:
    """A leaderboard of one metric x, with intervals of two sigma."""
    frame = pl.DataFrame(
        {"rank": range(1, len(mu) + 1), "model": [f"m{i}" for i in range(len(mu))], "x": mu,
         "x_sigma": sigma},
        schema_overrides={"x": pl.Float64},
    )  # fmt: skip
    ends = [(pl.col("x") + 2 * sign * pl.col("x_sigma")) for sign in (-1, 1)]
    return frame.with_columns(x_lo=ends[0], x_hi=ends[1], **columns)


def cells_of(frame: pl.DataFrame, **options: int) -> list[str]:
    """The last column of a table in Markdown, the heading first."""
    table = ps.to_markdown(frame, **options).split("\n\n")[0].splitlines()
    del table[1]
    return [line.strip("| ").split(" | ")[-1] for line in table]


# --- numbers


def test_numbers_are_percentages_with_their_interval(board):
    # DESIGN.md, section 7 (R1): 0.642857, bounded interval (0.4107, 0.875).
    assert cells_of(board) == ["Bayes@5 (%)", "64.3 [41.1, 87.5]"]
    assert cells_of(board, percent=False) == ["Bayes@5", "0.64 [0.41, 0.88]"]
    assert cells_of(board, digits=0) == ["Bayes@5 (%)", "64 [41, 88]"]
    assert r"m & 64.3 [41.1, 87.5] \\" in ps.to_latex(board)
    assert ">64.3 [41.1, 87.5]<" in ps.to_great_table(board).as_raw_html()


@pytest.mark.parametrize(
    ("sigma", "percent", "plain"),
    [
        (0.2, "50.0", "0.50"),
        (0.012, "50.0", "0.500"),
        (0.0099, "50.00", "0.5000"),
        (0.0001, "50.000", "0.50000"),
        (0.0, "50.0", "0.500"),
    ],
)
def test_digits_follow_sigma(sigma, percent, plain):
    assert cells_of(made([0.5], [sigma]))[1].split()[0] == percent
    assert cells_of(made([0.5], [sigma]), percent=False)[1].split()[0] == plain


def test_large_numbers_need_no_decimals():
    assert cells_of(made([1234.5], [42.0])) == ["x", "1234 [1150, 1318]"]


def test_all_rows_have_the_digits_of_the_median_sigma():
    cells = cells_of(made([0.1, 0.2, 0.3], [0.3, 0.004, 0.0]), percent=False)
    # The median of 0.3 and 0.004 is 0.152; zero says nothing.
    assert [cell.split()[0] for cell in cells[1:]] == ["0.10", "0.20", "0.30"]


def test_all_strata_have_the_same_digits_and_unit():
    frame = made([0.5], [0.2]).with_columns(
        a__x=pl.lit(1.5), a__x_sigma=0.001, a__x_lo=1.498, a__x_hi=1.502
    )
    head, _, row = ps.to_markdown(frame).splitlines()
    assert head == "| rank | model | x | a: x |"
    assert row == "| 1 | m0 | 0.50 [0.10, 0.90] | 1.50 [1.50, 1.50] |"


def test_a_number_beyond_one_is_no_percentage():
    assert cells_of(made([0.5, 1.5], [0.1, 0.1]))[0] == "x"
    assert cells_of(made([0.5, -0.1], [0.1, 0.1]))[0] == "x"
    assert cells_of(made([0.5, 1.0], [0.1, 0.1]))[:2] == ["x (%)", "50.0 [30.0, 70.0]"]
    assert cells_of(made([1.5], [0.1]), percent=True) == ["x (%)", "150.0 [130.0, 170.0]"]


def test_what_is_missing_is_a_dash_and_zero_has_no_sign():
    frame = made([None], [0.1]).with_columns(x_lo=-0.0001, x_hi=0.2, org=pl.lit(None, pl.String))
    assert ps.to_markdown(frame).splitlines()[2] == "| 1 | m0 | – [0.0, 20.0]† | – |"  # noqa: RUF001
    assert r"1 & m0 & -- [0.0, 20.0]\textsuperscript{\dag} & -- \\" in ps.to_latex(frame)


def test_rewards_without_weights_have_their_interval():
    board = long([[3.0, 5.0], [9.0, 4.0]]).scorio.leaderboard(ps.max_at_k(1))
    assert cells_of(board) == ["Max@1", "5.2 [3.2, 8.3]"]


# --- Markdown


def test_a_markdown_table_has_a_column_for_each_stratum(strata):
    head, rule, *rows = ps.to_markdown(strata).split("\n\n")[0].splitlines()
    names = ("avg@N (%)", "Pass^1 (%)")
    numbers = [f"{stratum}{name}" for stratum in ("", "air: ", "web: ") for name in names]
    assert head == f"| rank | model | {' | '.join(numbers)} |"
    assert rule == f"| ---: | --- |{' ---: |' * 6}"
    assert len(rows) == 3
    assert {row.count("|") for row in rows} == {9}


@pytest.mark.parametrize(
    ("name", "markdown", "latex"),
    [
        ("gpt-4o_mini", "gpt-4o_mini", r"gpt-4o\_mini"),
        ("a|b", r"a\|b", r"a\textbar{}b"),
        ("_x_ *y*", r"\_x\_ \*y\*", r"\_x\_ *y*"),
        ("<b>", r"\<b>", r"\textless{}b\textgreater{}"),
        ("[x](y)", r"\[x\](y)", "[x](y)"),
        ("5% & $2 #1 {~^\\}", "5% & $2 #1 {\\~^\\\\}",
         r"5\% \& \$2 \#1 \{\textasciitilde{}\textasciicircum{}\textbackslash{}\}"),
        ("two\nlines", "two lines", "two lines"),
        ("~~x~", r"\~\~x\~", r"\textasciitilde{}\textasciitilde{}x\textasciitilde{}"),
        ("a&lt;b &#60; R&D", r"a\&lt;b \&#60; R\&D", r"a\&lt;b \&\#60; R\&D"),
        ("HTTPS://x.y", "HTTPS:\u2060//x.y", "HTTPS://x.y"),
        ("WWW.x.y", "WWW\u2060.x.y", "WWW.x.y"),
        ("me@x.y", "me\u2060@x.y", "me@x.y"),
        ("x\u2066\x1b", "x(U+2066)(U+001B)", "x(U+2066)(U+001B)"),
    ],
)  # fmt: skip
def test_names_of_models_are_escaped(r1, name, markdown, latex):
    board = r1.with_columns(model=pl.lit(name)).scorio.leaderboard(ps.bayes())
    assert ps.to_markdown(board).splitlines()[2].startswith(f"| 1 | {markdown} | ")
    assert f"\n1 & {latex} & " in ps.to_latex(board)


def test_names_of_models_are_no_html(r1):
    board = r1.with_columns(model=pl.lit("<script>")).scorio.leaderboard(ps.bayes())
    html = ps.to_great_table(board).as_raw_html()
    assert "&lt;script&gt;" in html
    assert "<script>" not in html


def test_no_table_is_turned_around(r1):
    board = r1.with_columns(model=pl.lit("safe\u202e5-tpg\u202c")).scorio.leaderboard(ps.bayes())
    named = board.rename({"rank": "\u200frank"})
    for table in (
        ps.to_markdown(named),
        ps.to_latex(named),
        ps.to_great_table(named).as_raw_html(),
    ):
        assert "safe(U+202E)5-tpg(U+202C)" in table
        assert "(U+200F)rank" in table
        assert not set(table) & set("\u200f\u202c\u202e")


# --- LaTeX


@pytest.mark.parametrize("name", ["[2ex] of memory", "*", "[\n]"])
def test_latex_rows_do_not_begin_with_an_option(r1, name):
    board = r1.with_columns(model=pl.lit(name)).scorio.leaderboard(ps.bayes()).drop("rank")
    latex = ps.to_latex(board.rename({"model": name}))
    starts = [line[:3] for line in latex.splitlines() if " & " in line]
    assert starts == [f"{{}}{name[0]}"] * 2


def test_latex_has_the_strata_above_their_columns(strata):
    lines = ps.to_latex(strata.drop(pl.selectors.starts_with("web__"))).splitlines()
    assert lines[2:6] == [
        r"\begin{tabular}{rlrrrr}",
        r"\toprule",
        r"\multicolumn{2}{c}{} & \multicolumn{2}{c}{all strata} & \multicolumn{2}{c}{air} \\",
        r"\cmidrule(lr){3-4}\cmidrule(lr){5-6}",
    ]
    assert lines[6].startswith(r"rank & model & avg@N (\%) & Pass\textasciicircum{}1 (\%) & avg@N")
    assert {line.count("&") for line in lines[8:11]} == {5}
    assert lines[11:13] == [r"\bottomrule", r"\end{tabular}"]


def test_latex_is_one_tabular_for_several_strata_and_metrics():
    metrics = (ps.avg(), ps.pass_at_k(2), ps.pass_hat_k(2))
    asked = models(4, strata=3).scorio(by="bench")
    board = asked.leaderboard(*metrics, overall="macro").drop("tier")
    lines = ps.to_latex(board, caption="100 % & more", label="tab:all").splitlines()
    assert lines[:4] == [
        r"\begin{table}",
        r"\centering\small",
        r"\caption{100 \% \& more}",
        r"\label{tab:all}",
    ]
    text = "\n".join(lines)
    assert text.count(r"\begin{tabular}") == text.count(r"\begin{table}") == 1
    assert r"\begin{tabular}{rlrrrrrrrrrrrr}" in lines
    spanned = [name for name in ("all strata", "bench 0", "bench 1", "bench 2")
               if rf"\multicolumn{{3}}{{c}}{{{name}}}" in text]  # fmt: skip
    assert spanned == ["all strata", "bench 0", "bench 1", "bench 2"]
    assert r"\cmidrule(lr){3-5}\cmidrule(lr){6-8}\cmidrule(lr){9-11}\cmidrule(lr){12-14}" in lines
    rows = lines[lines.index(r"\midrule") + 1 : lines.index(r"\bottomrule")]
    assert len(rows) == 8  # of each model the numbers, and below them their intervals
    assert {row.count(" & ") for row in rows[::2]} == {13}
    assert {row.count("{\\scriptsize [") for row in rows[1::2]} == {12}
    assert not any("[" in row for row in rows[::2])
    assert "Columns without a stratum: mean of 3 benches." in text


def test_a_number_is_bold_where_its_column_has_a_best_model_beyond_doubt():
    # By one trial "wide" is the best, by the chance that both succeed "deep" is.
    all_four, one, none = [1, 1, 1, 1], [1, 0, 0, 0], [0, 0, 0, 0]
    outcomes = {
        "wide": [[1, 1, 0, 0]] * 100 + [[1, 1, 1, 0], one] * 10,
        "deep": [all_four] * 44 + [one] * 6 + [none] * 70,
        "poor": [one] * 20 + [none] * 100,
    }
    log = pl.concat(long(cells, model) for model, cells in outcomes.items())
    parts = [log.with_columns(bench=pl.lit(name)) for name in ("hard", "open")]
    parts[1] = parts[1].filter(pl.col("question") < 2)  # too few to tell
    asked = pl.concat(parts).scorio(by="bench", trial=None)
    metrics = (ps.avg(), ps.pass_hat_k(2))
    board = asked.leaderboard(*metrics, overall="micro")
    best = {name: board.filter(name)["model"].to_list() for name in board.columns
            if name.endswith("_best") and board[name].dtype == pl.Boolean}  # fmt: skip
    ranks = {metric: asked.rank(metric, overall="micro") for metric in metrics}
    firsts = {f"{prefix}{name}_best": ranks[metric].filter(
                  pl.col("bench").eq_missing(pl.lit(bench, pl.String)), pl.col("rank_hi") == 1
              )["model"].to_list()
              for prefix, bench in (("", None), ("hard__", "hard"), ("open__", "open"))
              for name, metric in zip(("avg", "pass_hat_k_2"), metrics, strict=True)}  # fmt: skip
    del best["could_be_best"]
    assert best == firsts
    assert (best["hard__avg_best"], best["hard__pass_hat_k_2_best"]) == (["wide"], ["deep"])
    assert best["open__avg_best"] == []
    note = "Bold: significantly the best of its column, each column by itself."
    for text, bold in (
        (ps.to_latex(board), r"\textbf{50.0}"),
        (ps.to_markdown(board), "**50.0** ["),
    ):
        assert text.count(bold.rstrip(" [")) == 1 + 1  # all strata, and "hard"
        assert bold in text
        assert note.replace("%", r"\%") in text
    html = ps.to_great_table(board).as_raw_html()
    assert html.split("<tbody")[1].count("font-weight: bold") == sum(map(len, best.values()))
    assert note in html
    assert "Bold" not in ps.to_markdown(
        board.with_columns(pl.lit(None).alias(name) for name in best)
    )


def test_latex_has_a_minus_for_a_minus():
    frame = made([-1.0], [0.5]).with_columns(model=pl.lit("a-b"))
    assert r"1 & a-b & $-$1.00 [$-$2.00, 0.00] \\" in ps.to_latex(frame)


# --- HTML


def test_the_best_cell_is_the_darkest():
    html = ps.to_great_table(made([0.9, 0.5, 0.7], [0.1, 0.1, 0.1])).as_raw_html()
    colours = [html.split(f">{text}")[0].split("background-color: ")[-1].split(";")[0]
               for text in ("90.0 [", "50.0 [", "70.0 [")]  # fmt: skip
    # From white to (130, 190, 235), half way in the middle.
    assert [colour.lower() for colour in colours] == ["#82beeb", "#ffffff", "#c0def5"]


def test_intervals_do_not_break_across_lines():
    html = ps.to_great_table(made([0.9, 0.5], [0.1, 0.1])).as_raw_html()
    for text in ("90.0 [", "50.0 ["):
        style = html.split(f">{text}")[0].rsplit('style="', 1)[1].split('"')[0]
        declared = [part.split(":")[0].strip() for part in style.split(";") if part.strip()]
        assert {"white-space", "background-color"} <= set(declared)


def test_equal_cells_have_no_colour(board):
    assert (
        "background-color: #ffffff;"
        not in ps.to_great_table(board).as_raw_html().split("<tbody")[1]
    )


def test_html_has_the_strata_above_their_columns(strata):
    html = ps.to_great_table(strata).as_raw_html()
    for stratum in ("air", "web"):
        assert f">{stratum}</span>" in html
    assert "air__bayes<" not in html


# --- notes


def note_of(frame: pl.DataFrame) -> str:
    markdown, html = ps.to_markdown(frame), ps.to_great_table(frame).as_raw_html()
    note = markdown.split("\n\n")[1]
    assert note.replace('"', "&quot;") in html.replace("&#x27;", "'") or note in html
    assert note.replace("%", r"\%").split(". ")[0] in ps.to_latex(frame)
    return note


def test_the_note_says_what_the_numbers_are(r1):
    counted = "2 questions, 5 trials per question. In brackets:"
    for metrics, words in (
        ([ps.avg()], "calibrated 90 % intervals"),
        ([ps.bayes()], "90 % intervals (uniform prior)"),
        (
            [ps.avg(), ps.bayes(), ps.geom_at_k([1, 2])],
            "calibrated 90 % intervals (Bayes@N: uniform prior)",
        ),
    ):
        board = r1.scorio.leaderboard(*metrics, confidence=0.9).drop("rank")
        assert note_of(board) == f"{counted} {words}, about these questions."
    published = r1.scorio.leaderboard(ps.bayes(), prior="uniform")
    assert "In brackets: 95 % intervals (uniform prior), about" in note_of(published)


def test_the_note_says_what_differs_between_models():
    log = pl.concat([long([[1, 0, None], [1]]), long([[1, 1, 1], [0, 0, None]], "other")])
    note = note_of(log.scorio(missing="drop").leaderboard(ps.bayes(), prior="population"))
    assert note.startswith(
        "2 questions, 1.5 to 2.5 trials per question. 1 trial of a model dropped."
    )
    assert "In brackets: 95 % intervals (weighted populations), about these questions." in note


@pytest.mark.parametrize(
    ("overall", "words"),
    [("macro", "mean of 2 domains"), ("micro", "pooled over 14 questions")],
)
def test_the_note_says_what_stands_for_all_strata(overall, words):
    accessor = drawn(3, range(7), most=4).scorio(by="domain", success=[1, 2])
    note = note_of(accessor.leaderboard(ps.bayes(), overall=overall))
    assert f"Columns without a stratum: {words}." in note
    assert note.startswith("14 questions, ")
    assert ", all strata together." in note


def test_the_number_in_a_bracket_is_not_the_estimate_beside_it():
    # 6 of 30 questions have a success in four trials: 0.2. With a uniform prior mu is
    # 0.8 x 4/9 + 0.2 x 13/18 = 0.5.
    log = long([[0] * 4] * 24 + [[1, 0, 0, 0]] * 6)
    board = log.scorio.leaderboard(ps.pass_at_k(4), prior="uniform")
    row = ps.to_markdown(board).splitlines()[2]
    assert row.startswith("| 1 | m | 50.0 [")
    assert row.endswith("] | 20.0 |")
    calibrated = log.scorio.leaderboard(ps.pass_at_k(4))
    assert cells_of(calibrated)[0] == "Pass@4 (%)"
    assert "inference" not in note_of(board) + note_of(calibrated)


def test_where_k_exceeds_the_trials_there_is_only_a_range(r1):
    board = r1.scorio.leaderboard(ps.pass_at_k(8))
    assert cells_of(board)[0] == "Pass@8 (%)"
    row = ps.to_markdown(board).splitlines()[2]
    assert "| – [" in row  # noqa: RUF001 - an en dash, as in a table
    assert row.endswith("]† |")
    assert r"]\textsuperscript{\dag} \\" in ps.to_latex(board)
    said = "† k exceeds the trials of a question: no unbiased estimate exists."
    assert said in note_of(board)
    posterior = r1.scorio.leaderboard(ps.pass_at_k(8), prior="population")
    assert cells_of(posterior)[-1].endswith("]†")
    assert said in note_of(posterior)
    assert said not in note_of(r1.scorio.leaderboard(ps.pass_at_k(4)))


def test_ranks_are_the_places_that_are_open():
    frame = made([0.5, 0.4], [0.1, 0.1], rank_lo=pl.Series([1, 2]), rank_hi=pl.Series([1, 4]))
    ranks = [line.split(" | ")[0] for line in ps.to_markdown(frame).splitlines()[2:]]
    assert ranks == ["| 1", "| 2–4"]  # noqa: RUF001 - an en dash, as in a table
    assert "2--4 & m1 & 40.0" in ps.to_latex(frame)


def test_joined_columns_are_legible():
    joined = {"price": pl.Series([0.1 + 0.2, 12.5]), "tags": pl.Series([["a", "b"], []]),
              "open": pl.Series([True, None])}  # fmt: skip
    rows = ps.to_markdown(made([0.5, 0.4], [0.1, 0.1], **joined)).splitlines()[2:]
    assert [row.split(" | ", 3)[3] for row in rows] == ["0.3 | a, b | true |", "12.5 |  | – |"]  # noqa: RUF001 - a dash


def test_strata_keep_their_names(r1):
    log = r1.with_columns(benchmark=pl.lit("SWE-bench Verified"))
    other = long([[0, 1, 0, 1, 0]], "m").with_columns(benchmark=pl.lit("ARC"))
    board = pl.concat([log, other]).scorio(by="benchmark").leaderboard(ps.avg())
    assert cells_of(board)[0] == "SWE-bench Verified: avg@5 (%)"
    assert ">SWE-bench Verified</span>" in ps.to_great_table(board).as_raw_html()


# --- other results


def test_a_report_is_a_table(r1):
    report = r1.scorio(prior="uniform").report(ps.pass_at_k([1, 2]))
    # DESIGN.md, section 7 (R1).
    assert ps.to_markdown(report).splitlines()[:4] == [
        "| model | metric | score (%) | estimate (%) |",
        "| --- | --- | ---: | ---: |",
        "| m | Pass@1 | 64.3 [41.1, 87.5] | 70.0 |",
        "| m | Pass@2 | 83.9 [64.9, 100.0] | 95.0 |",
    ]
    wide = r1.scorio(prior="uniform").report(ps.pass_at_k(2), wide=True)
    assert cells_of(wide)[0] == "estimate (%)"
    assert "| 83.9 [64.9, 100.0] | 95.0 |" in ps.to_markdown(wide)


def test_comparisons_and_ranks_are_tables():
    log = pl.concat([long([[1] * 50] * 9, "good"), long([[0] * 50] * 9, "poor")])
    pairs = ps.to_markdown(log.scorio().compare()).splitlines()
    assert "| difference of avg@N (%) |" in pairs[0]
    assert "| >0.999 |" in pairs[2]
    assert pairs[2].endswith("| good |")
    ranks = ps.to_markdown(log.scorio().rank()).splitlines()
    assert "| avg@N (%) |" in ranks[0]
    assert ranks[2].startswith("| 1 | **good** | ")


def test_columns_may_be_left_out_and_joined(strata):
    meta = pl.DataFrame({"model": ["a", "b", "c"], "org": ["x", "y", "z"]})
    frame = strata.join(meta, on="model").drop(
        "trials", "inference", "confidence", "overall", "dropped"
    )
    few = frame.drop(pl.selectors.starts_with("web__"))
    markdown = ps.to_markdown(few)
    assert "web" not in markdown
    assert markdown.splitlines()[0].endswith("| org |")
    assert "\n\n" not in markdown
    assert len(ps.to_latex(few.head(1)).splitlines()) == 14


def test_an_empty_leaderboard_is_an_empty_table(r1):
    board = r1.clear().scorio.leaderboard(ps.bayes())
    assert ps.to_markdown(board).splitlines() == [
        "| rank | model | Bayes@N (%) |",
        "| ---: | --- | ---: |",
    ]
    assert r"\end{tabular}" in ps.to_latex(board)
    assert "Bayes@N (%)" in ps.to_great_table(board).as_raw_html()


# --- errors


@pytest.mark.parametrize("table", [ps.to_great_table, ps.to_markdown, ps.to_latex])
def test_what_is_no_leaderboard_is_refused(table, r1):
    with pytest.raises(TypeError, match=r"^a table is made of a DataFrame, got LazyFrame$"):
        table(r1.lazy())
    with pytest.raises(ValueError, match=r"columns such as bayes, .* the columns are \['model', "):
        table(r1)
