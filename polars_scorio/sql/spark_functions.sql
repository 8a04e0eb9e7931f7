-- Metrics of trials and successes as SQL functions of Spark 4, for those who live in SQL.
--
--     SELECT model, avg(pass_at_k(n, c, 4)) AS estimate,
--            avg(pass_at_k_mean(n, c, 4)) AS mu,
--            sqrt(sum(pass_at_k_var(n, c, 4))) / count(*) AS sigma
--     FROM (SELECT model, question, count(category) AS n, sum(category) AS c
--           FROM rollouts GROUP BY model, question)
--     GROUP BY model
--
-- n trials of a question, of which c succeeded; k trials are drawn. A null gives a null, counts that
-- cannot be are an error. The prior of the success rate is uniform, as by default in polars_scorio. Mind
-- that avg() leaves nulls out: where k exceeds the trials of a question, the mean of the others is no
-- estimate of all, for which polars_scorio reports null.

-- Whether n and c are counts.
CREATE OR REPLACE TEMPORARY FUNCTION are_counts(n BIGINT, c BIGINT)
RETURNS BOOLEAN
RETURN CASE
    WHEN c < 0 OR c > n THEN raise_error('successes c must lie between 0 and the trials n')
    ELSE n IS NOT NULL AND c IS NOT NULL
END;

-- Whether so many trials can be drawn.
CREATE OR REPLACE TEMPORARY FUNCTION is_draw(k BIGINT)
RETURNS BOOLEAN
RETURN CASE
    WHEN k < 1 THEN raise_error('the size k of a draw must be positive')
    ELSE k IS NOT NULL
END;

-- Pass@k, the unbiased estimate: 1 - C(n - c, k) / C(n, k), null where k > n.
CREATE OR REPLACE TEMPORARY FUNCTION pass_at_k(n BIGINT, c BIGINT, k BIGINT)
RETURNS DOUBLE
RETURN CASE
    WHEN NOT (are_counts(n, c) AND is_draw(k)) OR k > n THEN NULL
    WHEN k > n - c THEN 1D
    ELSE 0D - expm1(aggregate(
        sequence(0L, greatest(k, 1L) - 1L), 0D, (total, i) -> total + log1p(0D - c / (n - i))
    ))
END;

-- Pass^k, the unbiased estimate: C(c, k) / C(n, k), null where k > n.
CREATE OR REPLACE TEMPORARY FUNCTION pass_hat_k(n BIGINT, c BIGINT, k BIGINT)
RETURNS DOUBLE
RETURN CASE
    WHEN NOT (are_counts(n, c) AND is_draw(k)) OR k > n THEN NULL
    WHEN k > c THEN 0D
    ELSE aggregate(
        sequence(0L, greatest(k, 1L) - 1L), 1D, (product, i) -> product * (c - i) / (n - i)
    )
END;

-- Bayes@N of one question: posterior mean and variance of its success rate p ~ Beta(1 + c, 1 + n - c).
CREATE OR REPLACE TEMPORARY FUNCTION bayes_mu(n BIGINT, c BIGINT)
RETURNS DOUBLE
RETURN CASE WHEN are_counts(n, c) THEN (1D + c) / (2D + n) END;

CREATE OR REPLACE TEMPORARY FUNCTION bayes_var(n BIGINT, c BIGINT)
RETURNS DOUBLE
RETURN CASE
    WHEN are_counts(n, c) THEN (1D + c) / (2D + n) * (1D + n - c) / ((2D + n) * (3D + n))
END;

-- Pass@k of one question: posterior mean and variance of 1 - q^k, q = 1 - p; defined for any k.
-- E[q^k] is the product of (1 + n - c + i) / (2 + n + i), i < k.
CREATE OR REPLACE TEMPORARY FUNCTION pass_at_k_mean(n BIGINT, c BIGINT, k BIGINT)
RETURNS DOUBLE
RETURN CASE
    WHEN are_counts(n, c) AND is_draw(k)
    THEN 0D - expm1(aggregate(
        sequence(0L, greatest(k, 1L) - 1L),
        0D,
        (total, i) -> total + log1p(0D - (1D + c) / (2D + n + i))
    ))
END;

-- Var(q^k) = E[q^k]^2 (r - 1), r = E[q^2k] / E[q^k]^2, from the logarithms of E[q^k] and of r. Spark
-- wants no function of ours around a lambda, so that the last step is a lambda too.
CREATE OR REPLACE TEMPORARY FUNCTION pass_at_k_var(n BIGINT, c BIGINT, k BIGINT)
RETURNS DOUBLE
RETURN CASE
    WHEN are_counts(n, c) AND is_draw(k)
    THEN aggregate(
        sequence(0L, greatest(k, 1L) - 1L),
        named_struct('mean', 0D, 'r', 0D),
        (log, i) -> named_struct(
            'mean', log.mean + ln((1D + n - c + i) / (2D + n + i)),
            'r', log.r + log1p(k * (1D + c) / ((2D + n + k + i) * (1D + n - c + i)))
        ),
        log -> CASE
            WHEN log.r > 1 THEN exp(2D * log.mean + log.r) - exp(2D * log.mean)
            ELSE exp(2D * log.mean) * expm1(log.r)
        END
    )
END;
