-- Pass@k for k = 1..$k and Bayes@N in SQL that SQLite, DuckDB and PostgreSQL share: no functions, no
-- macros, one recursive query. $table is a table or view with the columns model, question and category
-- (0 and 1, or false and true), one row per trial; a null category is a trial that does not count.
--
-- pass_at_k is the unbiased estimate, null where some question has fewer than k trials;
-- pass_at_k_mean and bayes are posterior means under the uniform prior, bayes_variance is the square of
-- the standard deviation of bayes.
--
-- A draw passes at its trial i + 1 if all before missed and this one does not. All terms are positive,
-- so that no digits are lost, which 1 - C(n - c, k) / C(n, k) does where successes are rare.
WITH RECURSIVE questions AS (
    SELECT
        model,
        question,
        COUNT(category) AS n,
        SUM(CAST(category AS INTEGER)) AS c
    FROM $table
    GROUP BY model, question
),
draws (n, c, k, missed, passed, missed_mean, passed_mean) AS (
    SELECT DISTINCT
        n,
        c,
        0,
        CAST(1 AS DOUBLE PRECISION),
        CAST(0 AS DOUBLE PRECISION),
        CAST(1 AS DOUBLE PRECISION),
        CAST(0 AS DOUBLE PRECISION)
    FROM questions
    WHERE n > 0
    UNION ALL
    SELECT
        n,
        c,
        k + 1,
        CASE WHEN n > k + c THEN missed * (n - c - k) / (n - k) ELSE 0 * missed END,
        CASE WHEN n > k THEN passed + missed * c / (n - k) END,
        missed_mean * (n - c + 1 + k) / (n + 2 + k),
        passed_mean + missed_mean * (c + 1) / (n + 2 + k)
    FROM draws
    WHERE k < $k
)
SELECT
    model,
    draws.k AS k,
    COUNT(*) AS questions,
    SUM(questions.n) AS trials,
    CASE WHEN COUNT(passed) = COUNT(*) THEN AVG(passed) END AS pass_at_k,
    AVG(passed_mean) AS pass_at_k_mean,
    AVG((1.0 * questions.c + 1) / (questions.n + 2)) AS bayes,
    SUM(
        (1.0 * questions.c + 1) / (questions.n + 2) * (questions.n - questions.c + 1)
        / (questions.n + 2) / (questions.n + 3)
    ) / COUNT(*) / COUNT(*) AS bayes_variance
FROM questions
JOIN draws ON draws.n = questions.n AND draws.c = questions.c
WHERE draws.k > 0
GROUP BY model, draws.k
ORDER BY model, draws.k
