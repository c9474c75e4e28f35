-- Scores of conversations: those of their attempts, taken together.
--
-- A conversation succeeds only if each of its attempts does. Other metrics are pooled as
-- `release_scores` pools them: numerators over denominators, or the mean of the values. Source:
-- docs/guides/send.md.
--
-- Reads:
--   attempts_to_send
--   metrics_to_send
--   scores
-- Columns:
--   conversation_id  VARCHAR  One row for each conversation and metric.
--   metric           VARCHAR  Name of the metric.
--   trajectory_id    VARCHAR  Its first attempt.
--   runs             BIGINT   Its attempts.
--   value            DOUBLE   NULL unless status is scored.
--   numerator        DOUBLE   Of success, the attempts that succeeded; NULL unless scored.
--   denominator      DOUBLE   Of success, the attempts of known success; NULL unless scored.
--   status           VARCHAR  scored | not_applicable | error.
--   reason           VARCHAR  Code of why an attempt was not scored; NULL if scored.
--   date             DATE     First date of its attempts.
-- Order:
--   conversation_id, metric
WITH pooled AS (
  SELECT
    attempts_to_send.conversation_id,
    scores.metric,
    bool_or(metrics_to_send.is_mean) AS is_mean,
    count(*) AS runs,
    min(scores.date) AS date,
    arg_min(
      scores.trajectory_id, (attempts_to_send.start_time, scores.trajectory_id)
    ) AS trajectory_id,
    CASE
      WHEN scores.metric <> 'success'
        THEN sum(scores.sample_weight * scores.numerator ORDER BY scores.trajectory_id)
      ELSE count_if(scores.value = 1)::DOUBLE
    END AS numerator,
    CASE
      WHEN scores.metric <> 'success'
        THEN
          nullif(sum(scores.sample_weight * scores.denominator ORDER BY scores.trajectory_id), 0)
      ELSE count(scores.value)::DOUBLE
    END AS denominator,
    sum(scores.sample_weight * scores.value ORDER BY scores.trajectory_id)
    / sum(scores.sample_weight) FILTER (WHERE scores.value IS NOT NULL) AS mean,
    min(scores.value) AS least,
    count(scores.value) = count(*) AS is_known,
    bool_or(scores.status = 'error') AS has_error,
    min(scores.reason) FILTER (WHERE scores.status = 'error') AS fault,
    min(scores.reason) AS reason
  FROM scores
  INNER JOIN attempts_to_send ON scores.trajectory_id = attempts_to_send.trajectory_id
  INNER JOIN metrics_to_send ON scores.metric = metrics_to_send.metric
  WHERE attempts_to_send.conversation_id IS NOT NULL
  GROUP BY attempts_to_send.conversation_id, scores.metric
),

valued AS (
  SELECT
    *,
    CASE
      WHEN metric = 'success' THEN CASE WHEN least = 0 OR is_known THEN least END
      WHEN is_mean THEN mean
      ELSE numerator / denominator
    END AS value
  FROM pooled
)

SELECT
  conversation_id,
  metric,
  trajectory_id,
  runs,
  value,
  if(value IS NULL, NULL, numerator) AS numerator,
  if(value IS NULL, NULL, denominator) AS denominator,
  CASE
    WHEN value IS NOT NULL THEN 'scored'
    WHEN has_error THEN 'error'
    ELSE 'not_applicable'
  END AS status,
  CASE WHEN value IS NULL THEN coalesce(fault, reason) END AS reason,
  date
FROM valued
ORDER BY conversation_id, metric;
