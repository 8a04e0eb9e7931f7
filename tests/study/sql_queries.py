"""Questions in SQL about a small log, with the rows that answer them."""

from math import comb, sqrt
from statistics import fmean

import polars_scorio as ps

# Benchmark and model: of four trials of each question, how many succeeded.
SOLVED = {
    ("code", "ada"): [4, 3, 2, 0],
    ("code", "bob"): [1, 0, 0, 2],
    ("code", "cyd"): [3, 3, 1, 0],
    ("math", "ada"): [2, 1, 0],
    ("math", "bob"): [4, 4, 3],
    ("math", "cyd"): [0, 1, 0],
}
VENDOR = {"ada": "north", "bob": "south", "cyd": "north"}
PRICE = {"ada": 4.0, "bob": 2.0, "cyd": 1.0}
METRICS = (ps.bayes(), ps.avg(), ps.pass_at_k([1, 2, 4]), ps.g_pass_at_k_tau(4, 0.5))


def average(key: tuple[str, str]) -> float:
    return fmean(c / 4 for c in SOLVED[key])


def passed(key: tuple[str, str], k: int) -> float:
    return fmean(1 - comb(4 - c, k) / comb(4, k) for c in SOLVED[key])


def bayes(key: tuple[str, str]) -> float:
    """Mean of Beta(1 + c, 5 - c), over the questions."""
    return fmean((1 + c) / 6 for c in SOLVED[key])


def sigma(key: tuple[str, str]) -> float:
    return sqrt(sum((1 + c) * (5 - c) / 252 for c in SOLVED[key])) / len(SOLVED[key])


def best(keys: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The keys by their posterior mean, best first."""
    return sorted(keys, key=bayes, reverse=True)


def of(benchmark: str) -> list[tuple[str, str]]:
    return [key for key in SOLVED if key[0] == benchmark]


Z = 1.959963984540054
QUERIES = {
    "where": (
        """SELECT model, mu, sigma FROM report
           WHERE metric = 'bayes' AND benchmark = 'code' ORDER BY model""",
        [(key[1], bayes(key), sigma(key)) for key in of("code")],
    ),
    "join": (
        """SELECT benchmark, model, vendor, estimate FROM report JOIN meta USING (model)
           WHERE metric = 'pass_at_k' AND k = 2 ORDER BY estimate DESC, model""",
        sorted(((*key, VENDOR[key[1]], passed(key, 2)) for key in SOLVED), key=lambda row: -row[3]),
    ),
    "left join": (
        """SELECT report.model, limits.budget FROM report LEFT JOIN limits
           ON report.model = limits.model
           WHERE metric = 'avg' AND benchmark = 'math' ORDER BY report.model""",
        [("ada", 100), ("bob", None), ("cyd", 50)],
    ),
    "group by": (
        """SELECT benchmark, COUNT(*) AS models, AVG(mu) AS mean, MAX(mu) AS top FROM report
           WHERE metric = 'bayes' GROUP BY benchmark ORDER BY benchmark""",
        [
            (name, 3, fmean(map(bayes, of(name))), max(map(bayes, of(name))))
            for name in ("code", "math")
        ],
    ),
    "having": (
        """SELECT vendor, SUM(trials) AS total FROM report JOIN meta USING (model)
           WHERE metric = 'avg' GROUP BY vendor HAVING total > 30""",
        [("north", 56)],
    ),
    "common table": (
        """WITH passed AS (
               SELECT benchmark, model, estimate FROM report WHERE metric = 'pass_at_k' AND k = 4
           ), tops AS (SELECT benchmark, MAX(estimate) AS most FROM passed GROUP BY benchmark)
           SELECT passed.benchmark, passed.model, most FROM passed
           JOIN tops ON passed.benchmark = tops.benchmark AND passed.estimate = tops.most
           ORDER BY passed.benchmark, passed.model""",
        [("code", "ada", 3 / 4), ("code", "cyd", 3 / 4), ("math", "bob", 1.0)],
    ),
    "difference by self join": (
        """SELECT a.benchmark, a.mu - b.mu AS ahead,
                  SQRT(POW(a.sigma, 2) + POW(b.sigma, 2)) AS sigma
           FROM report AS a JOIN report AS b
             ON a.benchmark = b.benchmark AND a.metric = b.metric
           WHERE a.metric = 'bayes' AND a.model = 'ada' AND b.model = 'bob'
           ORDER BY a.benchmark""",
        [
            (one[0], bayes(one) - bayes(other), sqrt(sigma(one) ** 2 + sigma(other) ** 2))
            for one, other in (
                (("code", "ada"), ("code", "bob")),
                (("math", "ada"), ("math", "bob")),
            )
        ],
    ),
    "rank": (
        """SELECT benchmark, model, RANK() OVER (PARTITION BY benchmark ORDER BY mu DESC) AS place
           FROM report WHERE metric = 'bayes' ORDER BY benchmark, place""",
        [(*key, i + 1) for name in ("code", "math") for i, key in enumerate(best(of(name)))],
    ),
    "union of benchmarks": (
        """SELECT 'code' AS source, model, estimate FROM code WHERE metric = 'avg'
           UNION ALL
           SELECT 'math' AS source, model, estimate FROM math WHERE metric = 'avg'
           ORDER BY source, model""",
        [(*key, average(key)) for key in SOLVED],
    ),
    "case": (
        """SELECT benchmark, model, CASE WHEN mu >= 0.6 THEN 'good' WHEN mu >= 0.4 THEN 'fair'
                  ELSE 'poor' END AS grade
           FROM report WHERE metric = 'bayes' ORDER BY benchmark, model""",
        [
            (*key, "good" if bayes(key) >= 0.6 else "fair" if bayes(key) >= 0.4 else "poor")
            for key in SOLVED
        ],
    ),
    "between": (
        """SELECT benchmark, model FROM report
           WHERE metric = 'bayes' AND 0.5 BETWEEN lo AND hi ORDER BY benchmark, model""",
        [key for key in SOLVED if abs(bayes(key) - 0.5) <= Z * sigma(key)],
    ),
    "in": (
        """SELECT model, k, estimate FROM report WHERE model IN ('ada', 'cyd') AND k IN (1, 2)
           AND metric = 'pass_at_k' AND benchmark = 'math' ORDER BY model, k DESC""",
        [(name, k, passed(("math", name), k)) for name in ("ada", "cyd") for k in (2, 1)],
    ),
    "like": (
        """SELECT DISTINCT metric, k FROM report WHERE metric LIKE 'g_pass%' OR metric LIKE '%es'
           ORDER BY metric""",
        [("bayes", None), ("g_pass_at_k_tau(tau=0.5)", 4)],
    ),
    "limit": (
        """SELECT benchmark, model, ROUND(mu, 3) AS mu FROM report WHERE metric = 'bayes'
           ORDER BY report.mu DESC LIMIT 2""",
        [(*key, round(bayes(key), 3)) for key in best(list(SOLVED))[:2]],
    ),
    "subquery as a table": (
        """SELECT vendor, AVG(top) AS mean FROM (
               SELECT model, MAX(estimate) AS top FROM report WHERE metric = 'avg' GROUP BY model
           ) AS tops JOIN meta USING (model) GROUP BY vendor ORDER BY vendor""",
        [("north", fmean([9 / 16, 7 / 16])), ("south", 11 / 12)],
    ),
    "subquery as a list": (
        """SELECT model, mu FROM report WHERE metric = 'bayes' AND benchmark = 'code'
           AND model IN (SELECT model FROM meta WHERE price < 3) ORDER BY model""",
        [(name, bayes(("code", name))) for name in ("bob", "cyd")],
    ),
    "subquery as a number": (
        """SELECT benchmark, model FROM report WHERE metric = 'avg'
           AND mu > (SELECT AVG(mu) FROM report WHERE metric = 'avg') ORDER BY benchmark, model""",
        [key for key in SOLVED if average(key) > fmean(map(average, SOLVED))],
    ),
    "is null": (
        """SELECT model, metric FROM report WHERE k IS NULL AND benchmark = 'code'
           AND estimate <> mu ORDER BY model""",
        [("ada", "bayes"), ("bob", "bayes"), ("cyd", "bayes")],
    ),
    "columns of a wide report": (
        # Bob and cyd gain the same on code, which the last bits could tell apart.
        """SELECT benchmark, model, pass_at_k_1, pass_at_k_4 - pass_at_k_1 AS gain, bayes_sigma
           FROM wide ORDER BY ROUND(pass_at_k_4 - pass_at_k_1, 9) DESC, model LIMIT 2""",
        [
            (*key, passed(key, 1), passed(key, 4) - passed(key, 1), sigma(key))
            for key in (("math", "ada"), ("code", "bob"))
        ],
    ),
    "value for money": (
        """SELECT vendor, MAX(bayes / price) AS value FROM wide JOIN meta USING (model)
           WHERE questions > 3 GROUP BY vendor ORDER BY value DESC""",
        [("north", bayes(("code", "cyd"))), ("south", bayes(("code", "bob")) / 2)],
    ),
    "self join of a wide report": (
        """SELECT a.model, b.bayes - a.bayes AS change FROM wide AS a
           JOIN wide AS b ON a.model = b.model
           WHERE a.benchmark = 'code' AND b.benchmark = 'math' ORDER BY change""",
        sorted(
            ((name, bayes(("math", name)) - bayes(("code", name))) for name in VENDOR),
            key=lambda row: row[1],
        ),
    ),
    "surely above": (
        """SELECT benchmark, model FROM wide WHERE bayes_lo > 0.5 OR bayes_hi < 0.45
           ORDER BY benchmark, model""",
        [
            key
            for key in SOLVED
            if bayes(key) - Z * sigma(key) > 0.5 or bayes(key) + Z * sigma(key) < 0.45
        ],
    ),
    "hardest questions": (
        """SELECT question, AVG(avg) AS solved, MAX(avg) AS most FROM questions
           WHERE benchmark = 'code' GROUP BY question HAVING most < 0.7 ORDER BY solved""",
        [(3, fmean([0, 2, 0]) / 4, 0.5), (2, fmean([2, 0, 1]) / 4, 0.5)],
    ),
    "overall rows": (
        """SELECT COALESCE(benchmark, 'all') AS part, model, estimate FROM overall
           WHERE benchmark IS NULL OR benchmark = 'math' ORDER BY part, model""",
        [
            *(
                ("all", name, fmean(average((part, name)) for part in ("code", "math")))
                for name in VENDOR
            ),
            *((*key, average(key)) for key in of("math")),
        ],
    ),
}
