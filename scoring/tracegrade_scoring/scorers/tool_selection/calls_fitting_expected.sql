-- Pairs of a call of an attempt and an expectation of its task that the call's tool fits.
--
-- A tool fits if it is the expected one, an accepted one, or, where no tool is named, of the
-- expected effect. Source: docs/metrics.md, sections 1.3 and 2.2.
--
-- Reads:
--   attempt_bindings
--   calls
--   own_expectations
--   task_expected
--   task_expected_arguments
--   attempt_tasks
-- Needs:
--   task_expected
--   calls
-- Columns:
--   attempt_id       INTEGER  The root trajectory.
--   call_index       INTEGER  The call.
--   position         INTEGER  The expectation, from 0 in the task file; one row for each of the 3.
--   arguments_fit    BOOLEAN  Every key given fits; see matches_expected. NULL if unknown.
--   arguments_given  BOOLEAN  The task gives at least one key.
--   unknown_because  VARCHAR  content_missing | input_unbound; NULL if arguments_fit is known.
--   differences      STRUCT("key" VARCHAR, sent VARCHAR, expected VARCHAR, is_value BOOLEAN)[]
--                             The keys that do not fit, by name: the JSON that was sent, NULL if
--                             missing; the expected value or rule as JSON. NULL if none.
--   equal            BIGINT   Top-level keys that fit at every place given in them; NULL if the
--                             task states no arguments, or where it cannot be known.
--   keys             BIGINT   Top-level keys of either side, without those that may be absent and
--                             are; 0 if there are none. NULL where equal is NULL.
-- Order:
--   none
WITH named AS (
  SELECT DISTINCT
    task_id,
    position,
    arguments IS NOT NULL AS stated,
    unnest(list_append(accept, tool_name)) AS tool_name
  FROM task_expected
),

any_of_effect AS (
  SELECT
    task_id,
    position,
    arguments IS NOT NULL AS stated,
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
    attempt_tasks.task_id
  FROM calls
  INNER JOIN attempt_tasks USING (attempt_id)
),

every_fitting AS (
  SELECT
    expecting_calls.attempt_id,
    expecting_calls.call_index,
    expecting_calls.task_id,
    named.position,
    named.stated
  FROM expecting_calls
  INNER JOIN named USING (task_id, tool_name)
  UNION ALL
  SELECT
    expecting_calls.attempt_id,
    expecting_calls.call_index,
    expecting_calls.task_id,
    any_of_effect.position,
    any_of_effect.stated
  FROM expecting_calls
  INNER JOIN any_of_effect USING (task_id, effect)
  ANTI JOIN named
    ON
      expecting_calls.task_id = named.task_id
      AND expecting_calls.tool_name = named.tool_name
      AND any_of_effect.position = named.position
),

-- Expectations of turns that other runs of the conversation have do not belong to this run.
fitting AS (
  SELECT every_fitting.*
  FROM every_fitting
  LEFT JOIN own_expectations USING (attempt_id)
  WHERE coalesce(list_contains(own_expectations.positions, every_fitting.position), TRUE)
),

given_names AS (
  SELECT
    task_id,
    position,
    list(DISTINCT name) AS names
  FROM task_expected_arguments
  GROUP BY task_id, position
),

-- Arguments are read only where the task states any.
stated AS (
  SELECT
    fitting.attempt_id,
    fitting.call_index,
    fitting.task_id,
    fitting.position,
    calls.content_missing,
    if(calls.parsed AND NOT calls.content_missing, calls.arguments, NULL) AS arguments,
    coalesce(given_names.names, []) AS names
  FROM fitting
  INNER JOIN calls USING (attempt_id, call_index)
  LEFT JOIN given_names USING (task_id, position)
  WHERE fitting.stated
),

-- A bound number is written as canonical JSON writes it.
given AS (
  SELECT * REPLACE (json_extract(value, '$')::VARCHAR AS value)
  FROM task_expected_arguments
),

compared AS (
  SELECT
    stated.attempt_id,
    stated.call_index,
    stated.position,
    stated.content_missing,
    given.key,
    given.name,
    given.pattern,
    given.low,
    given.high,
    given.rule,
    -- Only an object can lack an argument.
    given.optional AND coalesce(starts_with(stated.arguments, '{'), FALSE) AS optional,
    json_extract(stated.arguments, given.pointer)::VARCHAR AS actual,
    CASE
      WHEN given.input IS NULL THEN given.value
      WHEN given.input_type = 'text' THEN to_json(bound.value)::VARCHAR
      WHEN regexp_full_match(bound.value, '-?(0|[1-9]\d*)') THEN replace(bound.value, '-0', '0')
      WHEN regexp_full_match(bound.value, '-?(0|[1-9]\d*)\.\d+')
        THEN regexp_replace(to_json(bound.value::DOUBLE)::VARCHAR, '\.0$', '')
    END AS expected
  FROM stated
  INNER JOIN given USING (task_id, position)
  LEFT JOIN attempt_bindings AS bound
    ON stated.attempt_id = bound.attempt_id AND given.input = bound.name
),

alternatives AS (
  SELECT
    *,
    CASE
      WHEN NOT content_missing
        THEN matches_expected(actual, expected, pattern, low, high, optional)
    END AS fits
  FROM compared
),

-- Materialized, because it is read more than once.
judged AS MATERIALIZED (
  SELECT
    attempt_id,
    call_index,
    position,
    key,
    name,
    actual,
    expected,
    pattern IS NULL AND low IS NULL AS is_value,
    fits,
    FALSE AS absent
  FROM alternatives
  WHERE rule IS NULL
  UNION ALL
  -- One of the alternatives at a place is enough.
  SELECT
    attempt_id,
    call_index,
    position,
    key,
    name,
    any_value(actual) AS actual,
    any_value(rule) AS expected,
    FALSE AS is_value,
    CASE WHEN bool_or(fits) THEN TRUE WHEN count(fits) = count(*) THEN FALSE END AS fits,
    bool_or(optional AND actual IS NULL AND NOT content_missing) AS absent
  FROM alternatives
  WHERE rule IS NOT NULL
  GROUP BY attempt_id, call_index, position, key, name
),

-- Arguments that may be absent and are: they count on neither side.
absences AS (
  SELECT
    absent.attempt_id,
    absent.call_index,
    absent.position,
    list(DISTINCT absent.name) AS names
  FROM judged AS absent
  ANTI JOIN judged AS present
    ON
      absent.attempt_id = present.attempt_id
      AND absent.call_index = present.call_index
      AND absent.position = present.position
      AND absent.name = present.name
      AND NOT present.absent
  WHERE absent.absent
  GROUP BY absent.attempt_id, absent.call_index, absent.position
),

differing AS (
  SELECT
    attempt_id,
    call_index,
    position,
    count(DISTINCT name) AS unequal,
    list(
      { 'key': key, 'sent': actual, 'expected': expected, 'is_value': is_value } ORDER BY key
    ) AS differences
  FROM judged
  WHERE NOT fits
  GROUP BY attempt_id, call_index, position
),

unknown AS (
  SELECT DISTINCT
    attempt_id,
    call_index,
    position
  FROM judged
  WHERE fits IS NULL
),

listed AS (
  SELECT
    stated.*,
    coalesce(json_keys(stated.arguments), []) AS made_names,
    coalesce(absences.names, []) AS absent_names
  FROM stated
  LEFT JOIN absences USING (attempt_id, call_index, position)
),

counted AS (
  SELECT
    *,
    if(
      len(absent_names) = 0,
      names,
      list_filter(
        names,
        LAMBDA name: NOT list_contains(absent_names, name) OR list_contains(made_names, name)
      )
    ) AS counted_names
  FROM listed
),

measured AS (
  SELECT
    stated.attempt_id,
    stated.call_index,
    stated.position,
    len(stated.names) > 0 AS arguments_given,
    CASE
      WHEN differing.attempt_id IS NOT NULL THEN FALSE
      WHEN unknown.attempt_id IS NULL THEN TRUE
    END AS arguments_fit,
    if(stated.content_missing, 'content_missing', 'input_unbound') AS because,
    differing.differences,
    if(
      unknown.attempt_id IS NULL AND NOT stated.content_missing,
      len(stated.counted_names) - coalesce(differing.unequal, 0),
      NULL
    ) AS equal,
    -- A value that is not an object has nothing in common with one.
    greatest(
      if(stated.arguments = '{}', 0, 1),
      list_unique(stated.made_names || stated.counted_names)::BIGINT
    ) AS keys
  FROM counted AS stated
  LEFT JOIN differing USING (attempt_id, call_index, position)
  LEFT JOIN unknown USING (attempt_id, call_index, position)
)

SELECT
  attempt_id,
  call_index,
  position,
  TRUE AS arguments_fit,
  FALSE AS arguments_given,
  NULL AS unknown_because,
  NULL AS differences,
  NULL AS equal,
  NULL AS keys
FROM fitting
WHERE NOT stated
UNION ALL
SELECT
  attempt_id,
  call_index,
  position,
  arguments_fit,
  arguments_given,
  if(arguments_fit IS NULL, because, NULL) AS unknown_because,
  differences,
  equal,
  if(equal IS NULL, NULL, keys) AS keys
FROM measured;
