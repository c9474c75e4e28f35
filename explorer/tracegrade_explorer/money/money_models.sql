-- Cost and tokens of each model in a window of time.
--
-- Reads:
--   model_spending
--   run_index
-- Parameters:
--   $since  TIMESTAMP  When the window begins; NULL: it has the runs of any time.
--   $until  TIMESTAMP  When it ends, itself excluded; NULL as $since.
-- Columns:
--   name           VARCHAR  The model; NULL if not recorded. One row each.
--   runs           BIGINT   Runs that called it, themselves or by a sub-agent.
--   priced         BIGINT   Of these, runs whose whole cost is known.
--   no_price       BIGINT   Runs in which no price covers it.
--   no_tokens      BIGINT   Runs in which a price covers it, and a call has no token counts.
--   cost_usd       DOUBLE   Of the priced, by sample weight; NULL without any. Models together
--                           cost what the runs of the window cost.
--   input_tokens   DOUBLE   By sample weight; NULL if they were not counted.
--   output_tokens  DOUBLE   As input_tokens.
-- Order:
--   cost_usd DESC, input_tokens DESC, name
SELECT
  model_spending.model AS name,
  count(*) AS runs,
  count(run_index.cost_usd) AS priced,
  count(*) FILTER (WHERE model_spending.reason = 'no_price') AS no_price,
  count(*) FILTER (WHERE model_spending.reason = 'no_tokens') AS no_tokens,
  sum(model_spending.cost_usd * coalesce(run_index.sample_weight, 1)) FILTER (
    WHERE run_index.cost_usd IS NOT NULL
  ) AS cost_usd,
  sum(model_spending.input_tokens * coalesce(run_index.sample_weight, 1))::DOUBLE AS input_tokens,
  sum(model_spending.output_tokens * coalesce(run_index.sample_weight, 1))::DOUBLE
    AS output_tokens
FROM model_spending
INNER JOIN run_index ON model_spending.seq = run_index.seq
WHERE
  $since::TIMESTAMP IS NULL  -- noqa: RF02
  OR (
    run_index.start_time >= $since::TIMESTAMP  -- noqa: RF02
    AND run_index.start_time < $until::TIMESTAMP  -- noqa: RF02
  )
GROUP BY model_spending.model
ORDER BY cost_usd DESC NULLS LAST, input_tokens DESC NULLS LAST, name ASC NULLS LAST;
