-- Token counts and stated costs of each run's model calls, by model.
--
-- Calls of one model are added up if the same facts are known about them (tokens, a stated cost),
-- so that each sum is complete. By the conventions, tokens read from or written to a cache are
-- part of the input, and reasoning is part of the output. A count that is greater than the total
-- it should be part of was counted separately. Here every token is in one count. Source: [OTel
-- GenAI], `gen_ai.usage.*`.
--
-- Reads:
--   model_calls
-- Needs:
--   model_calls
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
WITH calls AS (
  SELECT
    run,
    model,
    input_tokens >= 0 AND output_tokens >= 0 AS counted,
    input_tokens,
    output_tokens,
    greatest(coalesce(cache_read_tokens, 0), 0) AS cache_read_tokens,
    greatest(coalesce(cache_write_tokens, 0), 0) AS cache_write_tokens,
    greatest(coalesce(reasoning_tokens, 0), 0) AS reasoning_tokens,
    -- In millionths of a millionth, so that the sum is exact in any order.
    CASE WHEN stated_usd BETWEEN 0 AND 1e9 THEN round(stated_usd * 1e12)::HUGEINT END AS stated
  FROM model_calls
),

sums AS (
  SELECT
    run,
    model,
    coalesce(counted, FALSE) AS counted,
    stated IS NOT NULL AS is_stated,
    count(*) AS calls,
    sum(
      greatest(input_tokens::HUGEINT - cache_read_tokens - cache_write_tokens, 0)
    ) AS fresh_input_tokens,
    sum(cache_read_tokens) AS cache_read_tokens,
    sum(cache_write_tokens) AS cache_write_tokens,
    sum(greatest(output_tokens::HUGEINT - reasoning_tokens, 0)) AS visible_output_tokens,
    sum(reasoning_tokens) AS reasoning_tokens,
    sum(stated) / 1e12 AS stated_usd
  FROM calls
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
