-- Tokens that a judge took for one judgment so far: of cheap, middling and dear ones.
--
-- Reads:
--   judge_calls
-- Parameters:
--   $judge  VARCHAR  Name of the judge.
-- Columns:
--   low       BIGINT  A tenth took at most so many; NULL without counted calls.
--   expected  BIGINT  The mean.
--   high      BIGINT  The dearest.
-- Order:
--   one row
WITH judgments AS (
  SELECT sum(input_tokens + output_tokens)::BIGINT AS tokens
  FROM judge_calls
  WHERE judge = $judge
  GROUP BY trajectory_id, sub_goal, step_index, question
)

SELECT
  quantile_disc(tokens, 0.1) AS low,
  round(avg(tokens))::BIGINT AS expected,
  max(tokens) AS high
FROM judgments
ORDER BY low;
