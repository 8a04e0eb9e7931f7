"""Which tests are those of the core: `python -m pytest -m core`, also of a copy of the core alone.

`.ci/core FOLDER` makes that copy, in which no reader, command, page, rubric, cost or judge is.
"""

from pathlib import Path

TESTS = Path(__file__).parent
ROOMS = {"accessors", "counting", "decisions", "maths", "metrics", "study"}
# Of these rooms, what asks for a reader, a page, a cost or a judge.
AROUND = {
    "accessors/test_base",
    "accessors/test_column_order",
    "accessors/test_display",
    "accessors/test_frame",
    "accessors/test_keywords",
    "accessors/test_second_call",
    "counting/test_cost_sums",
    "counting/test_first_trials",
    "counting/test_graded_rewards",
    "counting/test_huge_logs",
    "counting/test_label_sample",
    "counting/test_roles",
    "counting/test_study",
    "counting/test_success_labels",
    "counting/test_truth_labels",
    "counting/test_unscored",
    "counting/test_ways_out",
    "decisions/test_case_gate",
    "decisions/test_clusters",
    "decisions/test_consistent_chances",
    "decisions/test_cost_models",
    "decisions/test_curve_verdicts",
    "decisions/test_errored_trials",
    "decisions/test_frontier",
    "decisions/test_gate_cost",
    "decisions/test_judged_pairs",
    "decisions/test_lower_is_better",
    "decisions/test_missing_questions",
    "decisions/test_odd_logs",
    "decisions/test_overall",
    "decisions/test_question_analysis",
    "metrics/test_answer_votes",
    "metrics/test_costs",
    "study/test_check_warning",
    "study/test_choice",
    "study/test_cost_numbers",
    "study/test_judged",
    "study/test_judged_numbers",
    "study/test_judged_scores",
    "study/test_log_checks",
    "study/test_prior_warning",
    "study/test_report_columns",
    "study/test_stratum_weights",
}


def is_core(path: Path) -> bool:
    """Whether a file of tests, or a folder of them, needs nothing but the core."""
    if path.is_dir():
        return (
            path == TESTS or TESTS not in path.parents or path.relative_to(TESTS).parts[0] in ROOMS
        )
    if TESTS not in path.parents or not path.name.startswith("test_"):
        return False
    name = path.relative_to(TESTS).with_suffix("").as_posix()
    return name.partition("/")[0] in ROOMS and name not in AROUND
