-- Facts of one trajectory as a whole.
--
-- Reads:
--   continued_runs
--   trajectories
-- Parameters:
--   $trajectory_id  VARCHAR  The trajectory.
--   $date           DATE     The date of its trace; only files of that date are read.
--   $characters     BIGINT   Limit of the characters of each text.
-- Columns:
--   trajectory_id         VARCHAR    One row.
--   parent_trajectory_id  VARCHAR    Run whose tool call this is; NULL for a root.
--   agent_name            VARCHAR    NULL if none is named.
--   release               VARCHAR    NULL if not sent.
--   run_mode              VARCHAR    NULL if not declared.
--   conversation_id       VARCHAR    NULL if not sent.
--   task_id               VARCHAR    The trace's; NULL if it names none.
--   trial                 INTEGER    NULL if not declared.
--   user_input            VARCHAR    NULL if not captured.
--   final_answer          VARCHAR    NULL if there is none.
--   step_count            INTEGER    Steps of every kind.
--   tool_call_count       INTEGER    Tool calls.
--   error_count           INTEGER    Tool calls with status error or not_executed.
--   input_tokens          BIGINT     NULL if none were recorded.
--   output_tokens         BIGINT     NULL if none were recorded.
--   cost_usd              DOUBLE     NULL without prices.
--   start_time            TIMESTAMP  UTC; NULL if an import made it up.
--   duration_ms           DOUBLE     End less start.
--   complete              BOOLEAN    Its root arrived.
--   last_received         TIMESTAMP  When its trace was last received, UTC; NULL if not known.
--   imported              BOOLEAN    It came from a file; no more of it will arrive.
--   interrupted           BOOLEAN    It ended waiting for a person.
--   continued_by          VARCHAR    The run that continues it; NULL if none does.
--   continues             VARCHAR[]  Runs that it continues, sorted; empty if none.
--   flags                 VARCHAR[]  Parts that are missing; empty if none is.
--   children              VARCHAR[]  Trajectories of its sub-agents, sorted.
-- Order:
--   one row
WITH run AS (
  SELECT
    * REPLACE (
      left(user_input, $characters) AS user_input,
      left(final_answer, $characters) AS final_answer
    )
  FROM trajectories
  WHERE date = $date AND trajectory_id = $trajectory_id
),

children AS (
  SELECT list(trajectory_id ORDER BY trajectory_id) AS ids
  FROM trajectories
  WHERE date = $date AND parent_trajectory_id = $trajectory_id
),

parts AS (
  SELECT
    min(continued_by) FILTER (WHERE trajectory_id = $trajectory_id)
      AS continued_by,
    list(trajectory_id ORDER BY trajectory_id) FILTER (WHERE continued_by = $trajectory_id)
      AS continues
  FROM continued_runs
  WHERE trajectory_id = $trajectory_id OR continued_by = $trajectory_id
)

SELECT
  run.trajectory_id,
  run.parent_trajectory_id,
  run.agent_name,
  run.release,
  run.run_mode,
  run.conversation_id,
  run.task_id,
  run.trial,
  run.user_input,
  run.final_answer,
  run.step_count,
  run.tool_call_count,
  run.error_count,
  run.input_tokens,
  run.output_tokens,
  run.cost_usd,
  -- Made-up starts of an import begin with the year 2000, one second apart.
  CASE WHEN run.start_time >= '2001-01-01' THEN run.start_time END AS start_time,
  run.duration_ms,
  run.complete,
  make_timestamp_ns(run.trace_received_ns)::TIMESTAMP AS last_received,
  coalesce(run.imported, FALSE) AS imported,
  coalesce(run.interrupted, FALSE) AS interrupted,
  parts.continued_by,
  coalesce(parts.continues, []) AS continues,
  coalesce(run.flags, []) AS flags,
  coalesce(children.ids, []) AS children
FROM run
CROSS JOIN children
CROSS JOIN parts
ORDER BY run.trajectory_id;
