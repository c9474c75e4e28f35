-- Token counts and stated costs of each run's model calls, by model.
--
-- Calls of one model are added up if the same facts are known about them (tokens, a stated cost),
-- so that each sum is complete.
--
-- Reads:
--   token_counts_of_calls
-- Needs:
--   token_counts_of_calls
-- Columns:
--   run                    BIGINT   One row for each model and each set of known facts.
--   model                  VARCHAR  NULL if not recorded.
--   calls                  BIGINT
--   fresh_input_tokens     BIGINT   NULL if input or output was not recorded, as all five.
--   cache_read_tokens      BIGINT
--   cache_write_tokens     BIGINT
--   visible_output_tokens  BIGINT   Without reasoning.
--   reasoning_tokens       BIGINT
--   stated_usd             DOUBLE   Their cost as the source states it; NULL if it does not.
-- Order:
--   none
WITH sums AS (
  SELECT
    run,
    model,
    counted,
    stated IS NOT NULL AS is_stated,
    count(*) AS calls,
    sum(fresh_input_tokens) AS fresh_input_tokens,
    sum(cache_read_tokens) AS cache_read_tokens,
    sum(cache_write_tokens) AS cache_write_tokens,
    sum(visible_output_tokens) AS visible_output_tokens,
    sum(reasoning_tokens) AS reasoning_tokens,
    sum(stated) / 1e12 AS stated_usd
  FROM token_counts_of_calls
  GROUP BY ALL
)

SELECT
  run,
  model,
  calls,
  CASE WHEN counted THEN fresh_input_tokens::BIGINT END AS fresh_input_tokens,
  CASE WHEN counted THEN cache_read_tokens::BIGINT END AS cache_read_tokens,
  CASE WHEN counted THEN cache_write_tokens::BIGINT END AS cache_write_tokens,
  CASE WHEN counted THEN visible_output_tokens::BIGINT END AS visible_output_tokens,
  CASE WHEN counted THEN reasoning_tokens::BIGINT END AS reasoning_tokens,
  stated_usd
FROM sums;
