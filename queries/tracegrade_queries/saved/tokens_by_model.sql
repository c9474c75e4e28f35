-- Tokens that each model takes in each release, and how many of them came from its cache.
--
-- Reads:
--   steps
--   trajectories
-- Columns:
--   model             VARCHAR  NULL if not recorded. One row for each model and release.
--   release           VARCHAR  NULL if the spans name none.
--   trajectories      BIGINT
--   model_calls       BIGINT   Model calls with recorded tokens; at least 1.
--   input_tokens      BIGINT   NULL if none were recorded.
--   output_tokens     BIGINT   NULL if none were recorded.
--   reasoning_tokens  BIGINT   Part of the output; NULL if none were recorded.
--   cached_share      DOUBLE   Input read from a cache / input, in [0, 1]; NULL if not recorded.
--   tokens_per_run    DOUBLE   Input and output tokens / trajectories.
-- Order:
--   input_tokens DESC, model, release
SELECT
  steps.model,
  trajectories.release,
  count(DISTINCT steps.trajectory_id) AS trajectories,
  count(*) AS model_calls,
  sum(steps.input_tokens)::BIGINT AS input_tokens,
  sum(steps.output_tokens)::BIGINT AS output_tokens,
  sum(steps.reasoning_tokens)::BIGINT AS reasoning_tokens,
  sum(steps.cache_read_tokens) / nullif(sum(steps.input_tokens), 0) AS cached_share,
  sum(coalesce(steps.input_tokens, 0) + coalesce(steps.output_tokens, 0))
  / count(DISTINCT steps.trajectory_id) AS tokens_per_run
FROM steps
INNER JOIN trajectories USING (trajectory_id)
WHERE steps.input_tokens IS NOT NULL OR steps.output_tokens IS NOT NULL
GROUP BY steps.model, trajectories.release
ORDER BY sum(steps.input_tokens) DESC NULLS LAST, steps.model ASC, trajectories.release ASC;
