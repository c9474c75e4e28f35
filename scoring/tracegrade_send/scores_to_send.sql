-- Scores of attempts that a destination lacks, or has with other contents.
--
-- Scores with nothing to measure and failure modes that a run does not show are left out until the
-- destination has them, and so are places of a run without an issue. Source: docs/guides/send.md.
--
-- Reads:
--   attempts_to_send
--   lone_responses
--   sent_scores
--   trajectory_scores
--   wanted_scores
-- Parameters:
--   $destination    VARCHAR  Its hash, as in `sent_scores`.
--   $lake_id        VARCHAR  As in `send_destinations`.
--   $refused_again  BOOLEAN  TRUE: scores that were refused as well.
-- Columns:
--   key                 VARCHAR    Hash of the lake, the trajectory or conversation, the span or
--                                  place, and the metric.
--   id                  VARCHAR    Hash of the key and the contents.
--   trajectory_id       VARCHAR    The attempt; of a conversation, its first one.
--   trace_id            VARCHAR    Its trace, or that of the step, 32 hex digits.
--   root_span_id        VARCHAR    Its root span, 16 hex digits; NULL without a root.
--   response_id         VARCHAR    Response of the model of a run without a root that has one such
--                                  call; NULL for others, and where it is not needed.
--   span_id             VARCHAR    Span of the step, 16 hex digits; NULL for a score of the run.
--   conversation_id     VARCHAR    The conversation; NULL for a score of a run or a step.
--   runs                BIGINT     Attempts of the conversation; NULL for other scores.
--   issue_rank          BIGINT     Place of the issue in its run, from 1; NULL for other scores.
--   called_tool         VARCHAR    Tool of its first wrong decision or failed call; NULL if none.
--   expected_tool       VARCHAR    Tool that was expected there; NULL if none was.
--   issue               VARCHAR    Key of the issue; NULL if its place has none.
--   issue_kind          VARCHAR    Kind of its reason; NULL if its place has none.
--   issue_object        VARCHAR    Object of its reason; NULL if nothing in particular.
--   issue_step          INTEGER    Step that shows it; NULL without one.
--   sentence            VARCHAR    Description of the failure, which may quote the run.
--   metric              VARCHAR    Name of the metric, or decision_correct, call_recovered or
--                                  issue.
--   value               DOUBLE     The score; NULL unless status is scored.
--   numerator           DOUBLE     Numerator of value; NULL unless scored.
--   denominator         DOUBLE     Denominator of value; NULL unless scored.
--   status              VARCHAR    scored | not_applicable | error.
--   label               VARCHAR    Label of the score, as in `scores` or `step_scores`.
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
--   date, trajectory_id, metric, key
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

-- Only what may have to be sent: hashes of contents are not needed for the rest.
keyed AS (
  SELECT
    *,
    left(sha256(concat_ws(chr(31), $lake_id, subject, part, metric)), 32) AS key
  FROM wanted_scores
),

candidates AS (
  SELECT
    keyed.*,
    answers.key IS NOT NULL AS is_known,
    answers.id AS known_id,
    answers.state,
    answers.remote_id,
    answers.waits_since
  FROM keyed
  LEFT JOIN answers ON keyed.key = answers.key
  WHERE keyed.is_news OR answers.key IS NOT NULL
),

identified AS (
  SELECT
    candidates.* EXCLUDE (trace_id),
    attempts_to_send.root_span_id,
    lone_responses.response_id,
    attempts_to_send.environment,
    attempts_to_send.received_ns,
    coalesce(candidates.trace_id, attempts_to_send.trace_id) AS trace_id,
    trajectory_scores.task_id,
    trajectory_scores.release,
    trajectory_scores.agent_name,
    trajectory_scores.scorer_version,
    trajectory_scores.specification_hash,
    left(
      sha256(
        concat_ws(
          chr(31),
          candidates.key,
          coalesce(candidates.value::VARCHAR, ''),
          candidates.status,
          coalesce(candidates.label, ''),
          trajectory_scores.scorer_version,
          coalesce(trajectory_scores.specification_hash, ''),
          coalesce(trajectory_scores.input_hash, ''),
          candidates.contents
        )
      ),
      32
    ) AS id
  FROM candidates
  INNER JOIN attempts_to_send ON candidates.trajectory_id = attempts_to_send.trajectory_id
  INNER JOIN trajectory_scores ON candidates.trajectory_id = trajectory_scores.trajectory_id
  LEFT JOIN lone_responses ON candidates.trajectory_id = lone_responses.trajectory_id
)

SELECT
  key,
  id,
  trajectory_id,
  trace_id,
  root_span_id,
  response_id,
  span_id,
  conversation_id,
  runs,
  place AS issue_rank,
  called_tool,
  expected_tool,
  issue,
  issue_kind,
  issue_object,
  issue_step,
  sentence,
  metric,
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
  environment,
  scorer_version,
  specification_hash,
  received_ns,
  date,
  remote_id,
  waits_since
FROM identified
WHERE
  NOT is_known
  OR known_id IS DISTINCT FROM id
  OR state = 'waiting'
  OR ($refused_again::BOOLEAN AND state = 'refused')  -- noqa: RF02
ORDER BY date, trajectory_id, metric, key;
