-- Scores of attempts that a destination lacks, or has with other contents.
--
-- Left out: runs of sub-agents, runs that were killed or sent in addition to a trial's run, and
-- runs that a later run superseded, since `release_scores` does not count them either. Scores with
-- nothing to measure and failure modes that a run does not show are left out until the destination
-- has them. Scores of steps belong to the calls of a span: its decisions, and its failed calls
-- whose outcome is known. Source: docs/guides/send.md.
--
-- Reads:
--   decisions
--   failed_calls
--   killed_runs
--   scores
--   sent_scores
--   superseded_runs
--   trajectories
--   trajectory_scores
-- Parameters:
--   $destination    VARCHAR    Its hash, as in `sent_scores`.
--   $lake_id        VARCHAR    As in `send_destinations`.
--   $metrics        VARCHAR[]  Names of the metrics to send.
--   $only_if_shown  VARCHAR[]  Names of metrics to send only where the value is above 0.
--   $since          DATE       First date of the runs; NULL for all.
--   $all_scores     BOOLEAN    TRUE: scores with nothing to measure as well.
--   $refused_again  BOOLEAN    TRUE: scores that were refused as well.
--   $evidence       BOOLEAN    TRUE: scores of steps as well.
-- Columns:
--   key                 VARCHAR    Hash of the lake, the trajectory, the span and the metric.
--   id                  VARCHAR    Hash of the key and the contents.
--   trajectory_id       VARCHAR    The attempt.
--   trace_id            VARCHAR    Its trace, or that of the step, 32 hex digits.
--   root_span_id        VARCHAR    Its root span, 16 hex digits; NULL without a root.
--   span_id             VARCHAR    Span of the step, 16 hex digits; NULL for a score of the run.
--   called_tool         VARCHAR    Tool of its first wrong decision or failed call; NULL if none.
--   expected_tool       VARCHAR    Tool that was expected there; NULL if none was.
--   metric              VARCHAR    Name of the metric, or decision_correct or call_recovered.
--   value               DOUBLE     The score; NULL unless status is scored.
--   numerator           DOUBLE     Numerator of value; NULL unless scored.
--   denominator         DOUBLE     Denominator of value; NULL unless scored.
--   status              VARCHAR    scored | not_applicable | error.
--   label               VARCHAR    Label of the score; mostly NULL. A step has correct |
--                                  wrong_tool | wrong_arguments | better_tool_offered, or the
--                                  outcome of the failed call.
--   reason              VARCHAR    Code of why it was not scored; NULL if it was.
--   source              VARCHAR    Source of the score; mostly NULL.
--   task_id             VARCHAR    Task of the run; NULL if unknown.
--   release             VARCHAR    Release of the agent; NULL if not sent.
--   agent_name          VARCHAR    Name of the agent; NULL if none is named.
--   environment         VARCHAR    Deployment environment of the run; NULL if not sent.
--   scorer_version      VARCHAR    Version of the metrics' definitions.
--   specification_hash  VARCHAR    Hash of everything it was scored against; NULL if unknown.
--   received_ns         BIGINT     Time the last span of the trace was received, ns since 1970.
--   date                DATE       Date the trace was first received, UTC.
--   remote_id           VARCHAR    Id that the destination gave an earlier score; NULL if none.
--   waits_since         TIMESTAMP  First time that it had to wait, UTC; NULL if it did not.
-- Order:
--   date, trajectory_id, metric, span_id
WITH answers AS (
  SELECT
    key,
    arg_max(id, sent_at) AS id,
    arg_max(state, sent_at) AS state,
    arg_max(waits_since, sent_at) AS waits_since,
    max(remote_id) AS remote_id
  FROM sent_scores
  WHERE destination = $destination
  GROUP BY key
),

attempts AS (
  SELECT
    trajectories.trajectory_id,
    trajectories.trace_id,
    nullif(trajectories.root_span_id, '0000000000000000') AS root_span_id,
    trajectories.environment,
    trajectories.trace_received_ns
  FROM trajectories
  ANTI JOIN superseded_runs USING (trajectory_id)
  ANTI JOIN killed_runs USING (trajectory_id)
  WHERE
    trajectories.parent_trajectory_id IS NULL
    AND coalesce(trajectories.date >= $since::DATE, $since::DATE IS NULL)  -- noqa: RF02
),

calls AS (
  SELECT
    trajectory_id,
    step_trajectory_id,
    span_id,
    step_index,
    'decision_correct' AS metric,
    correct AS is_good,
    CASE
      WHEN correct THEN 'correct'
      WHEN list_contains(failed_criteria, 'a') THEN 'wrong_tool'
      WHEN list_contains(failed_criteria, 'b') THEN 'wrong_arguments'
      ELSE 'better_tool_offered'
    END AS label,
    if(correct, NULL, picked_tool) AS called_tool,
    if(correct, NULL, expected_tool) AS expected_tool
  FROM decisions
  WHERE $evidence::BOOLEAN AND counted AND correct IS NOT NULL  -- noqa: RF02

  UNION ALL

  SELECT
    trajectory_id,
    step_trajectory_id,
    span_id,
    step_index,
    'call_recovered' AS metric,
    outcome <> 'lost' AS is_good,
    outcome AS label,
    tool_name AS called_tool,
    NULL AS expected_tool
  FROM failed_calls
  WHERE $evidence::BOOLEAN AND outcome IS NOT NULL  -- noqa: RF02
),

-- One row for each span; a span of a model may have several calls.
steps_of_runs AS (
  SELECT
    calls.trajectory_id,
    calls.span_id,
    calls.metric,
    steps_trajectory.trace_id,
    count_if(calls.is_good)::DOUBLE AS numerator,
    count(*)::DOUBLE AS denominator,
    arg_min_null(calls.label, (calls.is_good, calls.step_index)) AS label,
    arg_min_null(calls.called_tool, (calls.is_good, calls.step_index)) AS called_tool,
    arg_min_null(calls.expected_tool, (calls.is_good, calls.step_index)) AS expected_tool
  FROM calls
  INNER JOIN trajectories AS steps_trajectory
    ON calls.step_trajectory_id = steps_trajectory.trajectory_id
  WHERE nullif(calls.span_id, '0000000000000000') IS NOT NULL
  GROUP BY calls.trajectory_id, calls.span_id, calls.metric, steps_trajectory.trace_id
),

all_scores AS (
  SELECT
    trajectory_id,
    NULL AS span_id,
    metric,
    NULL AS step_trace_id,
    value,
    numerator,
    denominator,
    status,
    label,
    reason,
    source,
    task_id,
    release,
    agent_name,
    date,
    NULL AS called_tool,
    NULL AS expected_tool
  FROM scores
  WHERE list_contains($metrics::VARCHAR[], metric)

  UNION ALL

  SELECT
    steps_of_runs.trajectory_id,
    steps_of_runs.span_id,
    steps_of_runs.metric,
    steps_of_runs.trace_id AS step_trace_id,
    steps_of_runs.numerator / steps_of_runs.denominator AS value,
    steps_of_runs.numerator,
    steps_of_runs.denominator,
    'scored' AS status,
    steps_of_runs.label,
    NULL AS reason,
    NULL AS source,
    trajectory_scores.task_id,
    trajectory_scores.release,
    trajectory_scores.agent_name,
    trajectory_scores.date,
    steps_of_runs.called_tool,
    steps_of_runs.expected_tool
  FROM steps_of_runs
  INNER JOIN trajectory_scores USING (trajectory_id)
),

chosen AS (
  SELECT
    *,
    left(
      sha256(concat_ws(chr(31), $lake_id, trajectory_id, coalesce(span_id, ''), metric)), 32
    ) AS key
  FROM all_scores
),

identified AS (
  SELECT
    chosen.*,
    attempts.root_span_id,
    attempts.environment,
    attempts.trace_received_ns,
    coalesce(chosen.step_trace_id, attempts.trace_id) AS trace_id,
    trajectory_scores.scorer_version,
    trajectory_scores.specification_hash,
    left(
      sha256(
        concat_ws(
          chr(31),
          chosen.key,
          coalesce(chosen.value::VARCHAR, ''),
          chosen.status,
          coalesce(chosen.label, ''),
          trajectory_scores.scorer_version,
          coalesce(trajectory_scores.specification_hash, ''),
          coalesce(trajectory_scores.input_hash, '')
        )
      ),
      32
    ) AS id
  FROM chosen
  INNER JOIN attempts USING (trajectory_id)
  INNER JOIN trajectory_scores USING (trajectory_id)
)

SELECT
  identified.key,
  identified.id,
  identified.trajectory_id,
  identified.trace_id,
  identified.root_span_id,
  identified.span_id,
  identified.called_tool,
  identified.expected_tool,
  identified.metric,
  identified.value,
  identified.numerator,
  identified.denominator,
  identified.status,
  identified.label,
  identified.reason,
  identified.source,
  identified.task_id,
  identified.release,
  identified.agent_name,
  identified.environment,
  identified.scorer_version,
  identified.specification_hash,
  identified.trace_received_ns AS received_ns,
  identified.date,
  answers.remote_id,
  answers.waits_since
FROM identified
LEFT JOIN answers USING (key)
WHERE
  (
    answers.id IS DISTINCT FROM identified.id
    OR answers.state = 'waiting'
    OR ($refused_again::BOOLEAN AND answers.state = 'refused')  -- noqa: RF02
  )
  AND (
    answers.key IS NOT NULL
    OR (
      ($all_scores::BOOLEAN OR identified.status <> 'not_applicable')  -- noqa: RF02
      AND (
        NOT list_contains($only_if_shown::VARCHAR[], identified.metric)  -- noqa: RF02
        OR identified.value > 0
      )
    )
  )
ORDER BY
  identified.date,
  identified.trajectory_id,
  identified.metric,
  identified.span_id NULLS FIRST;
