-- Every score: one row for each trajectory and metric.
--
-- Reads:
--   trajectory_scores
-- Columns:
--   trajectory_id  VARCHAR  One row for each trajectory_id and metric.
--   metric         VARCHAR  Name of the metric.
--   value          DOUBLE   NULL unless scored.
--   numerator      DOUBLE   NULL unless scored.
--   denominator    DOUBLE   NULL unless scored.
--   status         VARCHAR  scored | not_applicable | error.
--   label          VARCHAR  What the metric says beside its value; mostly NULL.
--   reason         VARCHAR  Why it was not scored; else NULL.
--   source         VARCHAR  Who or what the score comes from.
--   task_id        VARCHAR  NULL if no task is known.
--   task_category  VARCHAR  NULL if not known.
--   release        VARCHAR  NULL if not sent.
--   agent_name     VARCHAR  NULL if none is named.
--   sample_weight  DOUBLE   1 / probability of being sampled.
--   date           DATE     Date the trace was first received, UTC.
-- Order:
--   trajectory_id, metric
SELECT
  trajectory_id,
  metric,
  score.value,
  score.numerator,
  score.denominator,
  score.status,
  score.label,
  score.reason,
  score.source,
  task_id,
  task_category,
  release,
  agent_name,
  sample_weight,
  date
FROM trajectory_scores
UNPIVOT (
  score FOR metric IN (
    COLUMNS(
      * EXCLUDE (
        trajectory_id, task_id, task_category, release, agent_name, sample_weight, date,
        scorer_version, task_hash, specification_hash, input_hash
      )
    )
  )
)
ORDER BY trajectory_id, metric;
