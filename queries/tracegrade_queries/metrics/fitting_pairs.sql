-- Each call of an attempt beside each expectation of its task that its tool fits.
--
-- A tool fits if it is the expected one, an accepted one, or, where no tool is named, of the
-- expected effect. Source: metrics.md, section 1 (criterion b) and section 2 (similarity).
--
-- Reads:
--   attempt_bindings
--   calls
--   task_expected
--   task_expected_arguments
--   task_matches
-- Columns:
--   attempt_id       INTEGER  The root trajectory.
--   call_index       INTEGER  The call.
--   position         INTEGER  The expectation, from 0 in the task file; one row for each of the 3.
--   arguments_fit    BOOLEAN  Every key given fits (fits_wanted); NULL if that cannot be known.
--   arguments_given  BOOLEAN  The task gives at least one key.
--   unknown_because  VARCHAR  content_missing | input_unbound; NULL if arguments_fit is known.
--   wrong_argument   VARCHAR  The first key, by name, that does not fit; NULL if none.
--   found            VARCHAR  Its JSON; NULL if missing.
--   wanted           VARCHAR  JSON that was expected there.
--   effect           VARCHAR  Of the call; NULL if not known.
--   equal            BIGINT   Top-level keys that fit at every place given in them; NULL if the
--                             task states no arguments, or where it cannot be known.
--   keys             BIGINT   Top-level keys of either; 0 if there are none. NULL where equal is.
-- Order:
--   none
WITH named AS (
  SELECT DISTINCT
    task_id,
    position,
    unnest(list_append(accept, tool_name)) AS tool_name
  FROM task_expected
),

any_of_effect AS (
  SELECT
    task_id,
    position,
    effect
  FROM task_expected
  WHERE tool_name IS NULL
),

expecting_calls AS (
  SELECT
    calls.attempt_id,
    calls.call_index,
    calls.tool_name,
    calls.effect,
    calls.content_missing,
    if(calls.parsed AND NOT calls.content_missing, calls.arguments, NULL) AS arguments,
    task_matches.task_id
  FROM calls
  INNER JOIN task_matches USING (attempt_id)
  WHERE task_matches.task_id IN (SELECT named.task_id FROM named)
),

fitting AS (
  SELECT
    expecting_calls.*,
    named.position
  FROM expecting_calls
  INNER JOIN named USING (task_id, tool_name)
  UNION ALL
  SELECT
    expecting_calls.*,
    any_of_effect.position
  FROM expecting_calls
  INNER JOIN any_of_effect USING (task_id, effect)
  ANTI JOIN named
    ON
      expecting_calls.task_id = named.task_id
      AND expecting_calls.tool_name = named.tool_name
      AND any_of_effect.position = named.position
),

-- A bound number is written as canonical JSON writes it.
given AS (
  SELECT * REPLACE (json_extract(value, '$')::VARCHAR AS value)
  FROM task_expected_arguments
),

given_names AS (
  SELECT
    task_id,
    position,
    list(DISTINCT name) AS names
  FROM task_expected_arguments
  GROUP BY task_id, position
),

compared AS (
  SELECT
    fitting.attempt_id,
    fitting.call_index,
    fitting.position,
    fitting.content_missing,
    given.key,
    given.name,
    given.pattern,
    given.low,
    given.high,
    json_extract(fitting.arguments, given.pointer)::VARCHAR AS found,
    CASE
      WHEN given.input IS NULL THEN given.value
      WHEN given.input_type = 'text' THEN to_json(bound.value)::VARCHAR
      WHEN regexp_full_match(bound.value, '-?(0|[1-9]\d*)') THEN replace(bound.value, '-0', '0')
      WHEN regexp_full_match(bound.value, '-?(0|[1-9]\d*)\.\d+')
        THEN regexp_replace(to_json(bound.value::DOUBLE)::VARCHAR, '\.0$', '')
    END AS wanted
  FROM fitting
  INNER JOIN given USING (task_id, position)
  LEFT JOIN attempt_bindings AS bound
    ON fitting.attempt_id = bound.attempt_id AND given.input = bound.name
),

judged AS (
  SELECT
    *,
    CASE WHEN NOT content_missing THEN fits_wanted(found, wanted, pattern, low, high) END AS fits
  FROM compared
),

argument_fits AS (
  SELECT
    attempt_id,
    call_index,
    position,
    count(DISTINCT name) FILTER (WHERE NOT fits) AS unequal,
    count(fits) = count(*) AS known,
    CASE
      WHEN bool_or(NOT fits) THEN FALSE
      WHEN count(fits) = count(*) THEN TRUE
    END AS fit,
    if(bool_or(content_missing), 'content_missing', 'input_unbound') AS because,
    min(key) FILTER (WHERE NOT fits) AS wrong_argument,
    arg_min_null(found, key) FILTER (WHERE NOT fits) AS found,
    arg_min_null(wanted, key) FILTER (WHERE NOT fits) AS wanted
  FROM judged
  GROUP BY attempt_id, call_index, position
),

measured AS (
  SELECT
    fitting.attempt_id,
    fitting.call_index,
    fitting.position,
    fitting.effect,
    fits.attempt_id IS NOT NULL AS arguments_given,
    fits.fit,
    fits.because,
    fits.wrong_argument,
    fits.found,
    fits.wanted,
    CASE
      WHEN task_expected.arguments IS NULL THEN NULL
      WHEN fitting.content_missing OR NOT coalesce(fits.known, TRUE) THEN NULL
      ELSE coalesce(len(given_names.names) - coalesce(fits.unequal, 0), 0)
    END AS equal,
    -- What is no object has nothing in common with one.
    if(
      json_type(fitting.arguments) = 'OBJECT',
      len(list_distinct(json_keys(fitting.arguments) || coalesce(given_names.names, []))),
      greatest(1, len(given_names.names))
    ) AS keys
  FROM fitting
  INNER JOIN task_expected USING (task_id, position)
  LEFT JOIN given_names USING (task_id, position)
  LEFT JOIN argument_fits AS fits USING (attempt_id, call_index, position)
)

SELECT
  attempt_id,
  call_index,
  position,
  if(arguments_given, fit, TRUE) AS arguments_fit,
  arguments_given,
  if(arguments_given AND fit IS NULL, because, NULL) AS unknown_because,
  wrong_argument,
  found,
  wanted,
  effect,
  equal,
  if(equal IS NULL, NULL, keys) AS keys
FROM measured;
