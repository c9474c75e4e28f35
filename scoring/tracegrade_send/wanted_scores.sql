-- The scores that may be sent, by what identifies them; hashes and details are not known yet.
--
-- `trajectory_scores` holds only attempts that may be sent.
--
-- Reads:
--   issue_scores
--   metrics_to_send
--   scores
--   session_scores
--   step_scores
--   trajectory_scores
--   what_to_send
-- As:
--   view
-- Columns:
--   trajectory_id    VARCHAR  The attempt; of a conversation, its first one.
--   subject          VARCHAR  The attempt or conversation.
--   part             VARCHAR  The span, the place of an issue or `conversation`; '' for a run's.
--   metric           VARCHAR  One row for each of the three.
--   value            DOUBLE   NULL unless status is scored.
--   numerator        DOUBLE   NULL unless scored.
--   denominator      DOUBLE   NULL unless scored.
--   status           VARCHAR  scored | not_applicable | error.
--   label            VARCHAR  As in `scores` or `step_scores`.
--   reason           VARCHAR  Code of why it was not scored; NULL if it was.
--   source           VARCHAR  Source of the score; mostly NULL.
--   date             DATE     Date the trace was first received, UTC.
--   span_id          VARCHAR  Span of the step; NULL for other scores.
--   trace_id         VARCHAR  Trace of the step; NULL for other scores.
--   called_tool      VARCHAR  As in `step_scores`.
--   expected_tool    VARCHAR  As in `step_scores`.
--   place            BIGINT   Place of the issue; NULL for other scores.
--   issue            VARCHAR  As in `issue_scores`.
--   issue_kind       VARCHAR  As in `issue_scores`.
--   issue_object     VARCHAR  As in `issue_scores`.
--   issue_step       INTEGER  As in `issue_scores`.
--   sentence         VARCHAR  As in `issue_scores`.
--   contents         VARCHAR  What else of it may change; NULL for scores of runs and steps.
--   conversation_id  VARCHAR  The conversation; NULL for other scores.
--   runs             BIGINT   Attempts of the conversation; NULL for other scores.
--   is_news          BOOLEAN  FALSE: it is sent only if the destination has one with its key.
-- Order:
--   none
WITH all_scores AS (
  SELECT
    trajectory_id,
    trajectory_id AS subject,
    '' AS part,
    metric,
    value,
    numerator,
    denominator,
    status,
    label,
    reason,
    source,
    date
  FROM scores
  WHERE metric IN (SELECT metrics_to_send.metric FROM metrics_to_send)

  UNION ALL BY NAME

  SELECT
    step_scores.trajectory_id,
    step_scores.trajectory_id AS subject,
    step_scores.span_id AS part,
    step_scores.span_id,
    step_scores.metric,
    step_scores.trace_id,
    step_scores.numerator / step_scores.denominator AS value,
    step_scores.numerator,
    step_scores.denominator,
    'scored' AS status,
    step_scores.label,
    step_scores.called_tool,
    step_scores.expected_tool,
    trajectory_scores.date
  FROM step_scores
  INNER JOIN trajectory_scores USING (trajectory_id)

  UNION ALL BY NAME

  SELECT
    issue_scores.trajectory_id,
    issue_scores.trajectory_id AS subject,
    issue_scores.place::VARCHAR AS part,
    issue_scores.place,
    'issue' AS metric,
    (issue_scores.issue IS NOT NULL)::DOUBLE AS value,
    'scored' AS status,
    issue_scores.issue,
    issue_scores.issue_kind,
    issue_scores.issue_object,
    issue_scores.issue_step,
    issue_scores.sentence,
    concat_ws('/', issue_scores.issue, issue_scores.issue_step) AS contents,
    trajectory_scores.date
  FROM issue_scores
  INNER JOIN trajectory_scores USING (trajectory_id)

  UNION ALL BY NAME

  SELECT
    trajectory_id,
    conversation_id AS subject,
    'conversation' AS part,
    conversation_id,
    runs,
    metric,
    value,
    numerator,
    denominator,
    status,
    reason,
    concat_ws('/', runs, numerator, denominator, trajectory_id) AS contents,
    date
  FROM session_scores
)

SELECT
  *,
  (status <> 'not_applicable' OR (SELECT what_to_send.all_scores FROM what_to_send))
  AND (
    (
      metric <> 'issue'
      AND metric NOT IN (
        SELECT metrics_to_send.metric
        FROM metrics_to_send
        WHERE metrics_to_send.only_if_shown
      )
    )
    OR coalesce(value > 0, FALSE)
  ) AS is_news
FROM all_scores
WHERE
  coalesce(
    date >= (SELECT what_to_send.since FROM what_to_send),
    (SELECT what_to_send.since FROM what_to_send) IS NULL
  );
