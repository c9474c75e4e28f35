-- Traces whose trajectories must be scored, now or once they are settled and chosen.
--
-- A trace is settled once one of its runs does not wait for a root. Settled traces are scored when
-- they are new, without the runs that wait. They are scored again when spans, verdicts, their task
-- or definitions changed, or when one of their runs no longer waits. An attempt is scored against
-- its task and the tools. If no span names the task, it is also scored against every `match`,
-- which together decide its task. Source: docs/internals/scoring-job.md; docs/metrics.md, section
-- 0.4.
--
-- Reads:
--   conversation_turns
--   task_hashes
--   traces_with_other_metrics
--   trajectories
--   trajectory_scores
--   verdicts
--   waiting_runs
-- Parameters:
--   $everything      BOOLEAN    Score every settled trace.
--   $fragments       BOOLEAN    Traces that are parts of others are runs, too.
--   $scorer_version  VARCHAR    Version of the definitions now.
--   $tools_hash      VARCHAR    Hash of the tools now, for attempts without a known task.
--   $match_hash      VARCHAR    Hash of every `match` now.
--   $since           TIMESTAMP  Only traces with a run begun at or after it, UTC; NULL for all.
--   $until           TIMESTAMP  Only traces with a run begun before it, UTC; NULL for all.
--   $agent_name      VARCHAR    Only traces with a run of this agent; NULL for all.
--   $release         VARCHAR    Only traces with a run of this release; NULL for all.
-- Columns:
--   trace_id     VARCHAR    One row each.
--   date         DATE       Date it was first received, UTC; NULL if the trace is no longer in the
--                           lake.
--   scored_date  DATE       Partition of the scores that it has; NULL if it has none.
--   steps        BIGINT     Steps of its trajectories.
--   input_hash   VARCHAR    Changes when its records, verdicts or turns do; NULL if it is no
--                           longer in the lake.
--   turns        STRUCT(id VARCHAR, first_turn BIGINT, end_turn BIGINT)[]  Turns of a conversation
--                           that its runs have; NULL if each conversation has one run.
--   left_out     VARCHAR[]  Its trajectories that wait, and are left out; NULL if none does.
--   waits        BOOLEAN    It is not settled, or was not chosen: it is not scored now.
-- Order:
--   trace_id
WITH built AS (
  SELECT
    trace_id,
    min(date) AS date,
    sum(step_count)::BIGINT AS steps,
    count(*) AS trajectories,
    any_value(trace_records) AS records,
    any_value(trace_received_ns) AS received_ns,
    -- Labels count only with a mapping file: without one, they follow from the spans.
    string_agg(
      concat_ws('|', trajectory_id, release, agent_name, task_id, dimensions::VARCHAR),
      '|' ORDER BY trajectory_id
    ) FILTER (WHERE dimensions IS NOT NULL) AS labels,
    -- Their steps are others with this option, though the spans are the same.
    string_agg(trajectory_id, '|' ORDER BY trajectory_id) FILTER (
      WHERE list_contains(flags, 'retrieval_steps')
    ) AS with_retrieval,
    bool_or(
      parent_trajectory_id IS NULL
      AND ($since::TIMESTAMP IS NULL OR start_time >= $since::TIMESTAMP)
      AND ($until::TIMESTAMP IS NULL OR start_time < $until::TIMESTAMP)
      AND ($agent_name::VARCHAR IS NULL OR agent_name = $agent_name::VARCHAR)
      AND ($release::VARCHAR IS NULL OR release = $release::VARCHAR)
    ) AS chosen
  FROM trajectories
  WHERE $fragments::BOOLEAN OR is_fragment IS NOT TRUE
  GROUP BY trace_id
),

-- A renamed key is noted under its old name, and younger keys only where they have a value:
-- neither a new name nor a new column makes scoring run again.
noted_verdicts AS (
  SELECT
    split_part(trajectory_id, '-', 1) AS trace_id,
    replace(
      replace(to_json(verdicts)::VARCHAR, '"kill_point":', '"injection":'),
      '"step_trajectory_id":null,"span_id":null,"tag":null,"made_at":null,"withdrawn":null,',
      ''
    ) AS noted
  FROM verdicts
),

judged AS (
  SELECT
    trace_id,
    md5(string_agg(noted, '|' ORDER BY noted)) AS verdicts
  FROM noted_verdicts
  WHERE trace_id IN (SELECT built.trace_id FROM built)
  GROUP BY trace_id
),

turns AS (
  SELECT
    trace_id,
    list_sort(
      list(struct_pack(id := trajectory_id, first_turn := first_turn, end_turn := end_turn))
    ) AS turns
  FROM conversation_turns
  GROUP BY trace_id
),

present AS (
  SELECT
    built.trace_id,
    built.date,
    built.steps,
    built.trajectories - coalesce(len(waiting_runs.runs), 0) AS trajectories,
    built.chosen,
    md5(
      concat_ws(
        '|', built.records, built.received_ns, judged.verdicts, turns.turns::VARCHAR, built.labels,
        'retrieval|' || built.with_retrieval
      )
    ) AS input_hash,
    turns.turns,
    waiting_runs.runs AS left_out,
    built.trajectories > coalesce(len(waiting_runs.runs), 0) AS settled
  FROM built
  LEFT JOIN judged USING (trace_id)
  LEFT JOIN turns USING (trace_id)
  LEFT JOIN waiting_runs USING (trace_id)
),

scored_with AS (
  SELECT
    trajectory_scores.trajectory_id,
    trajectory_scores.date,
    trajectory_scores.input_hash,
    trajectory_scores.scorer_version,
    trajectory_scores.specification_hash,
    task_hashes.task_hash
  FROM trajectory_scores
  LEFT JOIN task_hashes USING (task_id)
),

scored AS (
  SELECT
    split_part(trajectory_id, '-', 1) AS trace_id,
    min(date) AS date,
    count(*) AS trajectories,
    any_value(input_hash) AS input_hash,
    bool_and(
      scorer_version = $scorer_version::VARCHAR
      AND CASE
        -- A sub-agent's run has none: its attempt's counts.
        WHEN specification_hash IS NULL THEN TRUE
        WHEN contains(specification_hash, '/')
          THEN
            specification_hash
            = coalesce(task_hash, $tools_hash::VARCHAR) || '/' || $match_hash::VARCHAR
        ELSE specification_hash = coalesce(task_hash, $tools_hash::VARCHAR)
      END
    ) AS current
  FROM scored_with
  GROUP BY trace_id
),

candidates AS (
  SELECT
    coalesce(present.trace_id, scored.trace_id) AS trace_id,
    present.date,
    scored.date AS scored_date,
    coalesce(present.steps, 0) AS steps,
    present.input_hash,
    present.turns,
    present.left_out,
    present.trace_id IS NULL AS is_removed,
    coalesce(present.settled AND present.chosen, FALSE) AS ready,
    coalesce(
      scored.current
      AND traces_with_other_metrics.trace_id IS NULL
      AND scored.input_hash = present.input_hash
      AND scored.trajectories = present.trajectories,
      FALSE
    ) AS current
  FROM present
  FULL JOIN scored ON present.trace_id = scored.trace_id
  LEFT JOIN traces_with_other_metrics ON scored.trace_id = traces_with_other_metrics.trace_id
)

SELECT
  trace_id,
  date,
  scored_date,
  steps,
  input_hash,
  turns,
  left_out,
  NOT is_removed AND NOT ready AS waits
FROM candidates
WHERE
  is_removed
  OR NOT current
  OR (ready AND $everything::BOOLEAN)
ORDER BY trace_id;
