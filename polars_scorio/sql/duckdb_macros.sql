-- Metrics of trials and successes as DuckDB macros, for those who live in SQL.
--
--     duckdb -init duckdb_macros.sql
--     SELECT model, question_mean(pass_at_k(n, c, 4), m) AS estimate,
--            question_mean(pass_at_k_mean(n, c, 4), m) AS mu,
--            sqrt(sum(m * pass_at_k_var(n, c, 4))) / sum(m) AS sigma
--     FROM (SELECT model, n, c, count(*) AS m
--           FROM (SELECT model, question, count(category) AS n, sum(category) AS c
--                 FROM 'rollouts.parquet' GROUP BY ALL)
--           GROUP BY ALL)
--     GROUP BY model;
--
-- m questions of a model have n trials and c successes each: few macros are worked out for many
-- questions. count(category) leaves trials without an outcome out; count(*) would make failures of them.
--
-- n trials of a question, of which c succeeded; k trials are drawn. A null gives a null, also among
-- the counts of max_at_k; counts that cannot be, and draws of no trial, are an error. The prior of
-- the success rate is uniform.
--
-- Digits, measured against arithmetic of 400 digits for n up to 100,000 and k up to 1,024: every macro
-- keeps a relative error below 1e-12, also where c = 0, c = n or k = n, since none subtracts numbers
-- that are nearly equal. (With lgamma, 1 - C(n - c, k) / C(n, k) as it is written is wrong in the 5th
-- digit at n = 100,000, c = k = 1.) One exception: in max_at_k of rewards of different sign gains and
-- losses can cancel; there the error is 1e-12 of the largest reward. The cost of a row grows with k.

CREATE OR REPLACE MACRO log1p(x) AS
    CASE WHEN 1 + x = 1 THEN x ELSE ln(1 + x) * (x / ((1 + x) - 1)) END;

CREATE OR REPLACE MACRO expm1(x) AS
    CASE
        WHEN abs(x) > 1 THEN exp(x) - 1
        WHEN exp(x) = 1 THEN x
        ELSE (exp(x) - 1) * (x / ln(exp(x)))
    END;

CREATE OR REPLACE MACRO are_counts(n, c) AS
    CASE
        WHEN c < 0 OR c > n THEN error('successes c must lie between 0 and the trials n')
        ELSE n IS NOT NULL AND c IS NOT NULL
    END;

CREATE OR REPLACE MACRO is_draw(k) AS
    CASE WHEN k < 1 THEN error('the size k of a draw must be positive') ELSE k IS NOT NULL END;

-- The mean of x over questions, of which m share a row; null where x is null, as where k exceeds the
-- trials of a question: the mean of the others, which avg() gives, is no estimate of all.
CREATE OR REPLACE MACRO question_mean(x, m) AS
    CASE WHEN count(x) = count(*) THEN sum(m * x) / sum(m) END;

-- Pass@k, the unbiased estimate: 1 - C(n - c, k) / C(n, k), null where k > n.
CREATE OR REPLACE MACRO pass_at_k(n, c, k) AS
    CASE
        WHEN NOT (are_counts(n, c) AND is_draw(k)) OR k > n THEN NULL
        WHEN k > n - c THEN 1.0::DOUBLE
        ELSE 0 - expm1(list_sum([log1p(0 - c::DOUBLE / (n::DOUBLE - i)) FOR i IN range(k)]))
    END;

-- Pass^k, the unbiased estimate: C(c, k) / C(n, k), null where k > n.
CREATE OR REPLACE MACRO pass_hat_k(n, c, k) AS
    CASE
        WHEN NOT (are_counts(n, c) AND is_draw(k)) OR k > n THEN NULL
        WHEN k > c THEN 0.0::DOUBLE
        ELSE list_product([(c::DOUBLE - i) / (n::DOUBLE - i) FOR i IN range(k)])
    END;

-- Bayes@N of one question: posterior mean and variance of its success rate p ~ Beta(1 + c, 1 + n - c).
CREATE OR REPLACE MACRO bayes_mu(n, c) AS
    CASE WHEN are_counts(n, c) THEN (1 + c::DOUBLE) / (2 + n::DOUBLE) END;

CREATE OR REPLACE MACRO bayes_var(n, c) AS
    CASE
        WHEN are_counts(n, c)
        THEN bayes_mu(n, c) * (1 + n::DOUBLE - c::DOUBLE) / ((2 + n::DOUBLE) * (3 + n::DOUBLE))
    END;

-- Pass@k of one question: posterior mean and variance of 1 - q^k, q = 1 - p; defined for any k.
-- E[q^k] is the product of (1 + n - c + i) / (2 + n + i), i < k.
CREATE OR REPLACE MACRO pass_at_k_mean(n, c, k) AS
    CASE
        WHEN are_counts(n, c) AND is_draw(k)
        THEN 0 - expm1(list_sum(
            [log1p(0 - (1 + c::DOUBLE) / (2 + n::DOUBLE + i)) FOR i IN range(k)]
        ))
    END;

-- Var(q^k) = E[q^k]^2 (r - 1), r = E[q^2k] / E[q^k]^2, from the logarithms of E[q^k] and of r.
CREATE OR REPLACE MACRO variance_of_power(log_mean, log_r) AS
    CASE
        WHEN log_r > 1 THEN exp(2 * log_mean + log_r) - exp(2 * log_mean)
        ELSE exp(2 * log_mean) * expm1(log_r)
    END;

CREATE OR REPLACE MACRO pass_at_k_var(n, c, k) AS
    CASE
        WHEN are_counts(n, c) AND is_draw(k)
        THEN variance_of_power(
            list_sum([ln((1 + n::DOUBLE - c::DOUBLE + i) / (2 + n::DOUBLE + i)) FOR i IN range(k)]),
            list_sum([
                log1p(
                    k * (1 + c::DOUBLE)
                    / ((2 + n::DOUBLE + k + i) * (1 + n::DOUBLE - c::DOUBLE + i))
                )
                FOR i IN range(k)
            ])
        )
    END;

-- Max@k, the unbiased estimate, of a few levels: counts[l] trials had the reward rewards[l], which
-- ascend, as in max_at_k([3, 1, 1], [0, 0.5, 1], 2). From the lowest reward on, each level adds its
-- step, times the chance that one of the k trials reaches it. Null where k exceeds the trials.
CREATE OR REPLACE MACRO are_levels(counts, rewards) AS
    CASE
        WHEN coalesce(
            list_count(counts) <> len(counts) OR list_count(rewards) <> len(rewards), true
        )
        THEN false
        WHEN len(counts) <> len(rewards) OR list_sort(rewards) <> rewards
        THEN error('max_at_k needs a count for each reward, and the rewards in ascending order')
        WHEN list_min(counts) < 0 THEN error('the counts of max_at_k must not be negative')
        ELSE true
    END;

CREATE OR REPLACE MACRO max_at_k(counts, rewards, k) AS
    CASE
        WHEN are_levels(counts, rewards) AND is_draw(k) AND k <= list_sum(counts)
        THEN rewards[1]::DOUBLE + coalesce(list_sum([
            (rewards[l + 1]::DOUBLE - rewards[l]::DOUBLE)
            * pass_at_k(list_sum(counts), list_sum(counts[l + 1:]), k)
            FOR l IN range(1, len(rewards))
        ]), 0)
    END;
