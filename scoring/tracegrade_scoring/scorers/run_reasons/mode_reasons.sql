-- The failure modes that attempts show, but for calls of tools that were not offered or refused.
--
-- Source: docs/metrics.md, section 9.6.
--
-- Reads:
--   calls
--   failure_rows
-- Needs:
--   failure_rows WHERE mode NOT IN ('tool_hallucination', 'unclassified')
-- Columns:
--   attempt_id          INTEGER  The root trajectory.
--   precedence          INTEGER  Of the kind, in the order of precedence.
--   kind                VARCHAR  loop | cascade | too_early | drift.
--   object              VARCHAR  The tool of a loop or cascade; else NULL.
--   sentence            VARCHAR  What the mode shows.
--   step_trajectory_id  INTEGER  The root or sub-agent whose step shows it; NULL without a step.
--   step_index          INTEGER  In that trajectory; NULL without a step.
--   span_id             VARCHAR  Of the step; NULL without one.
--   only_reads          BOOLEAN  FALSE.
--   position            INTEGER  NULL.
--   source              VARCHAR  static: no judge had a part in it.
-- Order:
--   none
WITH reasons AS (
  SELECT
    failure_rows.*,
    CASE failure_rows.mode
      WHEN 'loop_trap' THEN 'loop'
      WHEN 'cascading_error' THEN 'cascade'
      WHEN 'premature_commitment' THEN 'too_early'
      ELSE 'drift'
    END AS kind,
    calls.tool_name
  FROM failure_rows
  LEFT JOIN calls
    ON
      failure_rows.step_trajectory_id = calls.trajectory_id
      AND failure_rows.step_index = calls.step_index
  WHERE failure_rows.mode NOT IN ('tool_hallucination', 'unclassified')
)

SELECT
  trajectory_id AS attempt_id,
  CASE kind WHEN 'loop' THEN 6 WHEN 'cascade' THEN 14 WHEN 'too_early' THEN 15 ELSE 16 END
    AS precedence,
  kind,
  if(kind IN ('loop', 'cascade'), tool_name, NULL) AS object,
  concat(if(kind = 'loop', 'called ', ''), replace(detail, '`', '')) AS sentence,
  step_trajectory_id,
  step_index,
  span_id,
  FALSE AS only_reads,
  NULL::INTEGER AS position,
  source
FROM reasons;
