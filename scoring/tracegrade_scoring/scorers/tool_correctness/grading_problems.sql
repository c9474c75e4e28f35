-- The matching problem of tool correctness for each attempt, as a text; equal texts are equal
-- problems.
--
-- The text has one word for each call and each expectation of its turn that it fits, in order. The
-- word holds the number of the call's first word and the position. If the task states arguments,
-- it also holds how many top-level keys are equal, and how many either side has:
-- call:position=equal/keys. Source: docs/metrics.md, section 2.2.
--
-- Reads:
--   attempts
--   call_turns
--   calls_fitting_expected
--   graded_expectations
--   own_expectations
--   tasks
-- Needs:
--   tasks WHERE has_expected or call_turns
-- Columns:
--   attempt_id      INTEGER  An attempt whose task states expectations.
--   turn            INTEGER  -1 if expectations are not given by turn; one row for each of the
--                            two.
--   expected        BIGINT   Expected calls.
--   stated          BIGINT   Expected calls that state arguments.
--   used            BIGINT   Calls made.
--   problem         VARCHAR  E.g. '1:0=1/2 1:1=0/2 3:3'; '' if no call fits.
--   hidden          VARCHAR  content_missing | input_unbound, if a similarity is not known.
--   hidden_choice   BOOLEAN  A similarity is unknown for a call that fits several expectations.
-- Order:
--   none
WITH expected_turns AS (
  SELECT
    task_id,
    turn,
    count(*) AS expected,
    count_if(stated)::BIGINT AS stated
  FROM graded_expectations
  GROUP BY task_id, turn
),

used_turns AS (
  SELECT
    attempt_id,
    turn,
    count(*) AS used
  FROM call_turns
  WHERE graded
  GROUP BY attempt_id, turn
),

-- Other runs of the conversation have the other turns.
known_turns AS (
  SELECT
    attempts.attempt_id,
    expected_turns.turn
  FROM attempts
  INNER JOIN tasks USING (task_id)
  INNER JOIN expected_turns USING (task_id)
  LEFT JOIN own_expectations ON attempts.attempt_id = own_expectations.attempt_id
  WHERE
    tasks.has_expected
    AND coalesce(expected_turns.turn >= own_expectations.first_turn, TRUE)
    AND coalesce(expected_turns.turn < own_expectations.end_turn, TRUE)
  UNION
  SELECT
    attempt_id,
    turn
  FROM used_turns
),

-- Without any call or expectation there is one turn, and nothing in it.
turns AS (
  SELECT
    attempt_id,
    turn
  FROM known_turns
  UNION ALL
  SELECT
    attempts.attempt_id,
    -1 AS turn
  FROM attempts
  INNER JOIN tasks USING (task_id)
  ANTI JOIN known_turns USING (attempt_id)
  LEFT JOIN own_expectations ON attempts.attempt_id = own_expectations.attempt_id
  WHERE
    tasks.has_expected
    AND coalesce(len(own_expectations.positions) > 0, TRUE)
),

fits AS (
  SELECT
    call_turns.attempt_id,
    call_turns.turn,
    call_turns.call_index,
    pairs.position,
    pairs.equal,
    pairs.keys,
    if(
      graded_expectations.stated AND pairs.equal IS NULL,
      coalesce(pairs.unknown_because, 'content_missing'),
      NULL
    ) AS hidden
  FROM calls_fitting_expected AS pairs
  INNER JOIN call_turns USING (attempt_id, call_index)
  INNER JOIN attempts USING (attempt_id)
  INNER JOIN graded_expectations USING (task_id, position, turn)
  WHERE call_turns.graded
),

sorted_fits AS (
  SELECT
    attempt_id,
    turn,
    -- Sorting a list costs less than an aggregate with an order.
    list_sort(
      list(struct_pack(call := call_index, position := position, equal := equal, keys := keys))
    ) AS fits,
    min(hidden) AS hidden,
    list(call_index) FILTER (WHERE hidden IS NOT NULL) AS hidden_calls
  FROM fits
  GROUP BY attempt_id, turn
),

of_calls AS (
  SELECT
    *,
    list_transform(fits, LAMBDA fit: fit.call) AS calls
  FROM sorted_fits
),

problems AS (
  SELECT
    attempt_id,
    turn,
    array_to_string(
      list_transform(
        fits,
        LAMBDA fit: concat(
          list_position(calls, fit.call), ':', fit.position, '=' || fit.equal || '/' || fit.keys
        )
      ),
      ' '
    ) AS problem,
    hidden,
    len(
      list_filter(
        hidden_calls, LAMBDA hidden: len(list_filter(calls, LAMBDA call: call = hidden)) > 1
      )
    ) > 0 AS hidden_choice
  FROM of_calls
)

SELECT
  turns.attempt_id,
  turns.turn,
  coalesce(expected_turns.expected, 0) AS expected,
  coalesce(expected_turns.stated, 0) AS stated,
  coalesce(used_turns.used, 0) AS used,
  coalesce(problems.problem, '') AS problem,
  problems.hidden,
  coalesce(problems.hidden_choice, FALSE) AS hidden_choice
FROM turns
INNER JOIN attempts USING (attempt_id)
LEFT JOIN expected_turns USING (task_id, turn)
LEFT JOIN used_turns USING (attempt_id, turn)
LEFT JOIN problems USING (attempt_id, turn);
