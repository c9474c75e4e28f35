-- Token counts and stated cost of each model call, each token in one count.
--
-- By the conventions, tokens read from or written to a cache are part of the input, and reasoning
-- is part of the output. A count that is greater than the total it should be part of was counted
-- separately.
-- Source: [OTel GenAI], `gen_ai.usage.*`.
--
-- Reads:
--   model_calls
-- Needs:
--   model_calls
-- Columns:
--   model_call             BIGINT   One row each.
--   run                    BIGINT
--   model                  VARCHAR  NULL if not recorded.
--   counted                BOOLEAN  Input and output are recorded.
--   fresh_input_tokens     HUGEINT
--   cache_read_tokens      BIGINT
--   cache_write_tokens     BIGINT
--   visible_output_tokens  HUGEINT  Without reasoning.
--   reasoning_tokens       BIGINT
--   stated                 HUGEINT  Cost in millionths of a millionth of a US dollar, so that sums
--                                   are exact in any order; NULL if not stated.
-- Order:
--   none
WITH calls AS (
  SELECT
    model_call,
    run,
    model,
    coalesce(input_tokens >= 0 AND output_tokens >= 0, FALSE) AS counted,
    input_tokens,
    output_tokens,
    greatest(coalesce(cache_read_tokens, 0), 0) AS cache_read_tokens,
    greatest(coalesce(cache_write_tokens, 0), 0) AS cache_write_tokens,
    greatest(coalesce(reasoning_tokens, 0), 0) AS reasoning_tokens,
    CASE WHEN stated_usd BETWEEN 0 AND 1e9 THEN round(stated_usd * 1e12)::HUGEINT END AS stated
  FROM model_calls
)

SELECT
  model_call,
  run,
  model,
  counted,
  greatest(input_tokens::HUGEINT - cache_read_tokens - cache_write_tokens, 0)
    AS fresh_input_tokens,
  cache_read_tokens,
  cache_write_tokens,
  greatest(output_tokens::HUGEINT - reasoning_tokens, 0) AS visible_output_tokens,
  reasoning_tokens,
  stated
FROM calls;
