-- Facts about each run of some dates, without scores, one narrow row each, the newest first.
--
-- Reads:
--   decisions
--   failed_calls
--   failures
--   open_runs
--   run_positions
--   run_reasons
--   run_totals
--   steps
--   sub_agent_names
--   superseded_runs
--   trajectories
--   trajectory_scores
-- Parameters:
--   $first_date  DATE  Date on which traces were first received, UTC.
--   $last_date   DATE  The last such date.
-- Columns:
--   seq                   INTEGER    Place from the newest to the oldest, from 0 without gaps.
--   trajectory_id         VARCHAR    One row each.
--   parent_trajectory_id  VARCHAR    Run whose tool call this is; NULL for a root.
--   date                  DATE       Date its trace was first received, UTC.
--   start_time            TIMESTAMP  UTC; NULL if an import made it up.
--   agent_name            VARCHAR    NULL if none is named.
--   release               VARCHAR    NULL if not sent.
--   task_id               VARCHAR    Scoring's, else the trace's; NULL if not known.
--   task_category         VARCHAR    Likewise.
--   run_mode              VARCHAR    NULL if not declared.
--   conversation_id       VARCHAR    NULL if not sent.
--   trial                 INTEGER    NULL if not declared.
--   outcome               VARCHAR    succeeded | failed; NULL if not known, or not scored.
--   sample_weight         DOUBLE     Number of runs that it represents; NULL unless scored.
--   scored                BOOLEAN    Whether a scoring run has read it.
--   killed                BOOLEAN    It is not an attempt: killed on purpose, or sent in addition
--                                    to a trial's run.
--   beside                BOOLEAN    Its agent sent it in addition to its trial's run.
--   superseded            BOOLEAN    A later run of its trial, or one that resumes it, counts
--                                    instead.
--   complete              BOOLEAN    Its root arrived.
--   received_at           TIMESTAMP  When the last of its trace was received, UTC; NULL if not
--                                    known.
--   running_until         TIMESTAMP  End of its running state, UTC; NULL if it has an end.
--   silent_until          TIMESTAMP  End of its silent state, UTC; NULL if it has an end.
--   awaits_score          BOOLEAN    It has an end, and no scoring run has read it yet.
--   turn_count            INTEGER    Turns of a conversation; at least 1.
--   step_count            INTEGER    Steps of every kind.
--   tool_call_count       INTEGER    Tool calls.
--   error_count           INTEGER    Tool calls with status error or not_executed.
--   input_tokens          BIGINT     With those of its sub-agents, if it is a root, as the next
--                                    four; NULL if none were recorded.
--   output_tokens         BIGINT     NULL if none were recorded.
--   tokens                BIGINT     Input and output; NULL if none were recorded.
--   cost_usd              DOUBLE     NULL if the cost of a model call is not known, or without
--                                    calls.
--   unpriced              BOOLEAN    The cost of a model call is not known.
--   duration_ms           DOUBLE     End less start.
--   dialects              VARCHAR[]  The dialects that read its spans, sorted.
--   models                VARCHAR[]  Models that it or its sub-agents called, sorted; without
--                                    those that are not recorded.
--   tools                 VARCHAR[]  Tools, as models.
--   failures              VARCHAR[]  Failure modes that it shows, sorted; empty if none.
--   finding_count         INTEGER    Number of findings on its page: wrong and missed decisions,
--                                    failed calls and failure modes, including those at its
--                                    sub-agents' steps.
--   reason                VARCHAR    Kind of its reason of failure, then ': ' and the reason's
--                                    subject, if any; NULL unless it failed.
--   why                   VARCHAR    The same reason as a sentence.
--   dimensions            MAP(VARCHAR, VARCHAR)  Those of the mapping file; NULL without one.
--   request               VARCHAR    First 200 characters of the user's request; NULL if unknown.
-- Order:
--   seq
WITH modes AS (
  SELECT
    trajectory_id,
    list(DISTINCT mode ORDER BY mode) AS failures
  FROM failures
  WHERE date BETWEEN $first_date AND $last_date
  GROUP BY trajectory_id
),

found AS (
  SELECT
    trajectory_id,
    step_trajectory_id
  FROM decisions
  WHERE date BETWEEN $first_date AND $last_date AND counted AND NOT correct
  UNION ALL
  SELECT
    trajectory_id,
    step_trajectory_id
  FROM failed_calls
  WHERE date BETWEEN $first_date AND $last_date
  UNION ALL
  SELECT
    trajectory_id,
    step_trajectory_id
  FROM failures
  WHERE date BETWEEN $first_date AND $last_date AND mode <> 'unclassified'
),

findings AS (
  SELECT
    trajectory_id,
    count(*) AS finding_count
  FROM (
    SELECT trajectory_id FROM found
    UNION ALL
    SELECT step_trajectory_id AS trajectory_id FROM found
    WHERE step_trajectory_id <> trajectory_id
  ) AS of_runs
  GROUP BY trajectory_id
),

reasons AS (
  SELECT
    trajectory_id,
    concat_ws(': ', kind, object) AS reason,
    sentence
  FROM run_reasons
  WHERE date BETWEEN $first_date AND $last_date AND rank_in_run = 1 AND success IS FALSE
),

called AS (
  SELECT
    trajectory_id,
    list(DISTINCT tool_name) AS tools
  FROM steps
  WHERE
    date BETWEEN $first_date AND $last_date
    AND kind = 'tool_call'
    AND tool_name IS NOT NULL
  GROUP BY trajectory_id
),

scored_runs AS (
  SELECT
    trajectory_id,
    task_id,
    task_category,
    sample_weight,
    success.value AS success
  FROM trajectory_scores
  WHERE date BETWEEN $first_date AND $last_date
),

runs AS (
  SELECT
    trajectories.* REPLACE (
      coalesce(run_totals.input_tokens, trajectories.input_tokens)::BIGINT AS input_tokens,
      coalesce(run_totals.output_tokens, trajectories.output_tokens)::BIGINT AS output_tokens,
      if(run_totals.trajectory_id IS NULL, trajectories.cost_usd, run_totals.cost_usd)
        AS cost_usd
    ),
    coalesce(
      run_totals.unpriced, trajectories.cost_usd IS NULL AND trajectories.llm_call_count > 0, FALSE
    ) AS unpriced
  FROM trajectories
  LEFT JOIN run_totals ON trajectories.trajectory_id = run_totals.trajectory_id
  WHERE trajectories.date BETWEEN $first_date AND $last_date  -- noqa: RF02
)

SELECT
  run_positions.seq,
  runs.trajectory_id,
  runs.parent_trajectory_id,
  runs.date,
  CASE WHEN runs.start_time >= '2001-01-01' THEN runs.start_time END AS start_time,
  runs.agent_name,
  runs.release,
  coalesce(scored_runs.task_id, runs.task_id) AS task_id,
  coalesce(scored_runs.task_category, runs.task_category) AS task_category,
  runs.run_mode,
  runs.conversation_id,
  runs.trial,
  CASE scored_runs.success WHEN 1 THEN 'succeeded' WHEN 0 THEN 'failed' END AS outcome,
  scored_runs.sample_weight,
  scored_runs.trajectory_id IS NOT NULL AS scored,
  runs.kill_point IS NOT NULL AS killed,
  coalesce(runs.kill_point = 'several_runs', FALSE) AS beside,
  superseded_runs.trajectory_id IS NOT NULL AS superseded,
  coalesce(runs.complete, FALSE) AS complete,
  make_timestamp(runs.trace_received_ns // 1000) AS received_at,
  open_runs.running_until,
  open_runs.silent_until,
  coalesce(runs.complete, FALSE)
  AND runs.kill_point IS NULL
  AND runs.is_fragment IS NOT TRUE
  AND scored_runs.trajectory_id IS NULL AS awaits_score,
  coalesce(runs.turn_count, 1)::INTEGER AS turn_count,
  runs.step_count,
  runs.tool_call_count,
  runs.error_count,
  runs.input_tokens,
  runs.output_tokens,
  coalesce(
    runs.input_tokens + runs.output_tokens,
    runs.input_tokens,
    runs.output_tokens
  ) AS tokens,
  runs.cost_usd,
  runs.unpriced,
  runs.duration_ms,
  coalesce(runs.dialects, []) AS dialects,
  list_sort(
    list_distinct(
      list_concat(
        [usage.model FOR usage IN coalesce(runs.model_usage, [])],  -- noqa: RF01
        sub_agent_names.models
      )
    )
  ) AS models,
  coalesce(list_sort(list_distinct(list_concat(called.tools, sub_agent_names.tools))), [])
    AS tools,
  coalesce(modes.failures, []) AS failures,
  coalesce(findings.finding_count, 0)::INTEGER AS finding_count,
  reasons.reason,
  reasons.sentence AS why,
  runs.dimensions,
  left(runs.user_input, 200) AS request
FROM runs
INNER JOIN run_positions ON runs.trajectory_id = run_positions.trajectory_id
LEFT JOIN scored_runs ON runs.trajectory_id = scored_runs.trajectory_id
LEFT JOIN modes ON runs.trajectory_id = modes.trajectory_id
LEFT JOIN called ON runs.trajectory_id = called.trajectory_id
LEFT JOIN sub_agent_names ON runs.trajectory_id = sub_agent_names.trajectory_id
LEFT JOIN findings ON runs.trajectory_id = findings.trajectory_id
LEFT JOIN reasons ON runs.trajectory_id = reasons.trajectory_id
LEFT JOIN superseded_runs ON runs.trajectory_id = superseded_runs.trajectory_id
LEFT JOIN open_runs ON runs.trajectory_id = open_runs.trajectory_id
ORDER BY run_positions.seq;
