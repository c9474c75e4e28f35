-- Reasons why compared runs failed: the runs of either side, by their first reason.
--
-- Reads:
--   compared_runs
--   run_reasons
--   trajectory_scores
-- Columns:
--   agent_name          VARCHAR  One row for each agent_name, run_mode, kind and object; or NULL.
--   run_mode            VARCHAR  NULL if the trace does not say.
--   kind                VARCHAR  Of the reason (docs/metrics.md, section 9.6).
--   object              VARCHAR  What it is about; NULL if nothing in particular.
--   key                 VARCHAR  The same for the reason in every release of the agent.
--   base_runs           BIGINT   The base's failed runs with it as their first reason.
--   candidate_runs      BIGINT   The same for the candidate; one of the two is at least 1.
--   base_failed         BIGINT   The base's failed runs, for any reason.
--   candidate_failed    BIGINT   The same for the candidate.
--   base_known          BIGINT   The base's runs of known success.
--   candidate_known     BIGINT   The same for the candidate.
--   sentence            VARCHAR  Sentence of the candidate's first run by id; of the base's if it
--                                has none.
--   trajectory_id       VARCHAR  That run.
--   step_trajectory_id  VARCHAR  It, or the run of its sub-agent, of the step; NULL without one.
--   step_index          INTEGER  The step that shows it there; NULL if none does.
--   span_id             VARCHAR  Of that step; NULL if none does.
-- Order:
--   agent_name, run_mode, kind, object
WITH known AS (
  SELECT
    compared_runs.trajectory_id,
    compared_runs.agent_name,
    compared_runs.run_mode,
    compared_runs.side,
    trajectory_scores.success.value = 0 AS failed
  FROM compared_runs
  INNER JOIN trajectory_scores USING (trajectory_id)
  WHERE
    compared_runs.counted
    AND compared_runs.is_root
    AND trajectory_scores.success.value IS NOT NULL
),

totals AS (
  SELECT
    agent_name,
    run_mode,
    count(*) FILTER (WHERE side = 'base') AS base_known,
    count(*) FILTER (WHERE side = 'candidate') AS candidate_known,
    count(*) FILTER (WHERE side = 'base' AND failed) AS base_failed,
    count(*) FILTER (WHERE side = 'candidate' AND failed) AS candidate_failed
  FROM known
  GROUP BY agent_name, run_mode
),

firsts AS (
  SELECT
    known.agent_name,
    known.run_mode,
    known.side,
    run_reasons.kind,
    run_reasons.object,
    run_reasons.key,
    run_reasons.sentence,
    run_reasons.trajectory_id,
    run_reasons.step_trajectory_id,
    run_reasons.step_index,
    run_reasons.span_id,
    (known.side = 'base')::INTEGER || run_reasons.trajectory_id AS order_key
  FROM run_reasons
  INNER JOIN known USING (trajectory_id)
  WHERE run_reasons.rank_in_run = 1 AND known.failed
),

reasons AS (
  SELECT
    agent_name,
    run_mode,
    kind,
    object,
    min(key) AS key,
    count(*) FILTER (WHERE side = 'base') AS base_runs,
    count(*) FILTER (WHERE side = 'candidate') AS candidate_runs,
    arg_min(sentence, order_key) AS sentence,
    arg_min(trajectory_id, order_key) AS trajectory_id,
    arg_min_null(step_trajectory_id, order_key) AS step_trajectory_id,
    arg_min_null(step_index, order_key) AS step_index,
    arg_min_null(span_id, order_key) AS span_id
  FROM firsts
  GROUP BY agent_name, run_mode, kind, object
)

SELECT
  reasons.agent_name,
  reasons.run_mode,
  reasons.kind,
  reasons.object,
  reasons.key,
  reasons.base_runs,
  reasons.candidate_runs,
  totals.base_failed,
  totals.candidate_failed,
  totals.base_known,
  totals.candidate_known,
  reasons.sentence,
  reasons.trajectory_id,
  reasons.step_trajectory_id,
  reasons.step_index,
  reasons.span_id
FROM reasons
INNER JOIN totals
  ON
    reasons.agent_name IS NOT DISTINCT FROM totals.agent_name
    AND reasons.run_mode IS NOT DISTINCT FROM totals.run_mode
ORDER BY reasons.agent_name, reasons.run_mode, reasons.kind, reasons.object;
