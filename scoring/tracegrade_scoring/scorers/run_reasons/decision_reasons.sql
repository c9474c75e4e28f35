-- Wrong decisions of attempts: tools, arguments, calls missed or not expected.
--
-- Source: docs/metrics.md, section 9.6.
--
-- Reads:
--   decision_rows
--   task_tools
-- Needs:
--   decision_rows WHERE counted AND correct IS FALSE
-- Columns:
--   attempt_id          INTEGER  The root trajectory.
--   precedence          INTEGER  Precedence of the kind, from the first.
--   kind                VARCHAR  wrong_tool | wrong_argument | never_called | not_expected |
--                                unsafe.
--   object              VARCHAR  The expected tool, or the tool to call instead; for an argument,
--                                the tool, a dot and its path, without places in lists.
--   sentence            VARCHAR  The call that was made, and the expected call.
--   step_trajectory_id  INTEGER  The root or sub-agent that made the call; NULL if none was made.
--   step_index          INTEGER  Step of the call in that trajectory; NULL if none was made.
--   span_id             VARCHAR  Span of the call; NULL if none was made.
--   only_reads          BOOLEAN  The tools are known to change nothing, as far as any is known.
--   position            INTEGER  Position among the decision points.
--   source              VARCHAR  static.
-- Order:
--   none
WITH wrong AS (
  SELECT
    decision_rows.*,
    coalesce(decision_rows.picked_tool, 'an unnamed tool') AS picked,
    coalesce(
      decision_rows.expected_tool, 'a ' || decision_rows.expected_effect || ' tool'
    ) AS needed,
    coalesce(decision_rows.expected_effect, task_tools.effect) AS needed_effect,
    list_contains(decision_rows.failed_criteria, 'a') AS a,
    list_contains(decision_rows.failed_criteria, 'c') AS c
  FROM decision_rows
  LEFT JOIN task_tools ON decision_rows.expected_tool = task_tools.tool_name
  WHERE decision_rows.counted AND decision_rows.correct IS FALSE
),

differing AS (
  SELECT
    * EXCLUDE (wrong_arguments),
    unnest(wrong_arguments) AS wrong_argument
  FROM wrong
  WHERE len(wrong_arguments) > 0
),

arguments AS (
  SELECT
    * EXCLUDE (wrong_argument),
    regexp_replace(wrong_argument.argument, '^\$\.?', '') AS argument,
    wrong_argument.sent,
    wrong_argument.expected
  FROM differing
),

reasons AS (
  SELECT
    wrong.*,
    9 AS precedence,
    'wrong_tool' AS kind,
    needed AS object,
    CASE
      WHEN picked = expected_tool AND expected_effect IS NOT NULL
        THEN concat(
          'called ', clipped(picked, 40), ' (' || effect || ')', ', expected a ',
          if(expected_effect = 'read', 'read-only', expected_effect), ' call'
        )
      WHEN expected_tool IS NULL
        THEN concat('called ', clipped(picked, 40), ', expected ', clipped(needed, 40))
      ELSE concat('called ', clipped(picked, 40), ' where ', clipped(needed, 40), ' was expected')
    END AS sentence
  FROM wrong
  WHERE a AND NOT missed AND needed IS NOT NULL
  UNION ALL BY NAME
  SELECT
    arguments.* EXCLUDE (argument, sent, expected),
    10 AS precedence,
    'wrong_argument' AS kind,
    concat(picked, '.', regexp_replace(argument, '\[\d+\]', '[*]', 'g')) AS object,
    concat(
      'called ', clipped(picked, 40), if(sent IS NULL, ' without ', ' with '),
      clipped(argument, 40), ' ' || clipped(one_line(sent), 40), ', expected ',
      coalesce(clipped(one_line(expected), 40), 'nothing there')
    ) AS sentence
  FROM arguments
  UNION ALL BY NAME
  SELECT
    wrong.*,
    11 AS precedence,
    'never_called' AS kind,
    needed AS object,
    'never called ' || clipped(needed, 60) AS sentence
  FROM wrong
  WHERE missed
  UNION ALL BY NAME
  SELECT
    wrong.*,
    12 AS precedence,
    'not_expected' AS kind,
    picked AS object,
    concat(
      'called ', clipped(picked, 40), ' (' || effect || ')', ', where no call was expected'
    ) AS sentence
  FROM wrong
  WHERE a AND NOT missed AND needed IS NULL
  UNION ALL BY NAME
  SELECT
    wrong.*,
    19 AS precedence,
    'unsafe' AS kind,
    picked AS object,
    concat(
      'used ', clipped(picked, 40), ' (' || effect || ')', ' though ',
      clipped(alternative, 40), ' does the same'
    ) AS sentence
  FROM wrong
  WHERE c
)

SELECT
  trajectory_id AS attempt_id,
  precedence,
  kind,
  object,
  sentence,
  step_trajectory_id,
  step_index,
  span_id,
  coalesce('read' IN (effect, needed_effect), FALSE)
  AND coalesce(effect, 'read') = 'read'
  AND coalesce(needed_effect, 'read') = 'read' AS only_reads,
  decision_index AS position,
  'static' AS source
FROM reasons;
