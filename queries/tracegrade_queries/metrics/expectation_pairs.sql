-- Each decision point of an attempt beside each expectation of its task: do they fit?
--
-- Reads:
--   attempt_bindings
--   calls
--   decision_points
--   task_expected
--   task_expected_arguments
--   task_matches
-- Columns:
--   attempt_id       VARCHAR  One row for each attempt_id, point_index and position.
--   point_index      INTEGER  The decision point.
--   position         INTEGER  The expectation, from 0 in the task file.
--   same_decision    BOOLEAN  The span names this expectation.
--   tool_fits        BOOLEAN  The tool is the expected one, an accepted one, or of the effect.
--   arguments_fit    BOOLEAN  Every key given is present and equal; NULL if that cannot be known.
--   arguments_given  BOOLEAN  The task gives at least one key.
--   unknown_because  VARCHAR  content_missing | input_unbound; NULL if arguments_fit is known.
--   wrong_argument   VARCHAR  The first key, by name, that does not fit; NULL if none.
--   found            VARCHAR  Its JSON; NULL if missing.
--   wanted           VARCHAR  JSON that was expected there.
-- Order:
--   attempt_id, point_index, position
WITH picks AS (
  SELECT
    decision_points.attempt_id,
    decision_points.point_index,
    task_matches.task_id,
    calls.tool_name,
    calls.effect,
    calls.decision,
    if(calls.parsed AND NOT calls.content_missing, calls.arguments, NULL) AS arguments,
    calls.content_missing
  FROM decision_points
  INNER JOIN calls USING (attempt_id, call_index)
  INNER JOIN task_matches USING (attempt_id)
),

pairs AS (
  SELECT
    picks.*,
    task_expected.position,
    coalesce(picks.decision = task_expected.decision, FALSE) AS same_decision,
    coalesce(
      picks.tool_name = task_expected.tool_name
      OR list_contains(task_expected.accept, picks.tool_name)
      OR (task_expected.tool_name IS NULL AND picks.effect = task_expected.effect),
      FALSE
    ) AS tool_fits
  FROM picks
  INNER JOIN task_expected USING (task_id)
),

-- A bound number is written as canonical JSON writes it.
wanted_arguments AS (
  SELECT
    pairs.attempt_id,
    pairs.point_index,
    pairs.position,
    given.key,
    pairs.content_missing,
    json_extract(pairs.arguments, given.pointer)::VARCHAR AS found,
    CASE
      WHEN given.input IS NULL THEN json_extract(given.value, '$')::VARCHAR
      WHEN given.input_type = 'text' THEN to_json(bound.value)::VARCHAR
      WHEN regexp_full_match(bound.value, '-?(0|[1-9]\d*)') THEN replace(bound.value, '-0', '0')
      WHEN regexp_full_match(bound.value, '-?(0|[1-9]\d*)\.\d+')
        THEN regexp_replace(to_json(bound.value::DOUBLE)::VARCHAR, '\.0$', '')
    END AS wanted
  FROM pairs
  INNER JOIN task_expected_arguments AS given USING (task_id, position)
  LEFT JOIN attempt_bindings AS bound
    ON pairs.attempt_id = bound.attempt_id AND given.input = bound.name
  WHERE pairs.tool_fits
),

judged AS (
  SELECT
    *,
    CASE
      WHEN content_missing OR wanted IS NULL THEN NULL
      ELSE coalesce(found = wanted, FALSE)
    END AS fits
  FROM wanted_arguments
),

argument_fits AS (
  SELECT
    attempt_id,
    point_index,
    position,
    CASE
      WHEN bool_or(NOT fits) THEN FALSE
      WHEN count(fits) = count(*) THEN TRUE
    END AS fit,
    if(bool_or(content_missing), 'content_missing', 'input_unbound') AS because,
    min(key) FILTER (WHERE NOT fits) AS wrong_argument,
    arg_min_null(found, key) FILTER (WHERE NOT fits) AS found,
    arg_min_null(wanted, key) FILTER (WHERE NOT fits) AS wanted
  FROM judged
  GROUP BY attempt_id, point_index, position
)

SELECT
  pairs.attempt_id,
  pairs.point_index,
  pairs.position,
  pairs.same_decision,
  pairs.tool_fits,
  if(argument_fits.attempt_id IS NULL, TRUE, argument_fits.fit) AS arguments_fit,
  argument_fits.attempt_id IS NOT NULL AS arguments_given,
  if(argument_fits.fit IS NULL, argument_fits.because, NULL) AS unknown_because,
  argument_fits.wrong_argument,
  argument_fits.found,
  argument_fits.wanted
FROM pairs
LEFT JOIN argument_fits USING (attempt_id, point_index, position)
ORDER BY pairs.attempt_id, pairs.point_index, pairs.position;
