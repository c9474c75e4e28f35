-- What tool correctness has to match in each attempt, as a text in which equal problems are equal.
--
-- One word for each call that fits an expectation of its turn, in order; in it, parted by commas,
-- the expectations that it fits: position, and where the task states arguments, a colon and how
-- many top-level keys are equal / how many there are in either. Source: metrics.md, section 2.
--
-- Reads:
--   attempts
--   call_turns
--   fitting_pairs
--   graded_expectations
--   tasks
-- Columns:
--   attempt_id      INTEGER  An attempt whose task states expectations.
--   turn            INTEGER  -1 where they are not given by turn; one row for each of the two.
--   expected        BIGINT   Expected calls.
--   stated          BIGINT   Expected calls that state arguments.
--   used            BIGINT   Calls made.
--   problem         VARCHAR  E.g. '0:1/2,1:0/2 0:2/2 3'; '' if no call fits.
--   hidden          VARCHAR  content_missing | input_unbound, if a similarity is not known.
--   hidden_choice   BOOLEAN  One is not known of a call that fits several expectations.
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

-- Without any call or expectation there is one turn, and nothing in it.
turns AS (
  SELECT
    attempts.attempt_id,
    coalesce(expected_turns.turn, -1) AS turn
  FROM attempts
  INNER JOIN tasks USING (task_id)
  LEFT JOIN expected_turns USING (task_id)
  WHERE tasks.has_expected
  UNION
  SELECT
    attempt_id,
    turn
  FROM used_turns
),

fits AS (
  SELECT
    attempt_id,
    call_index,
    turn,
    string_agg(
      concat(
        pairs.position,
        if(pairs.equal IS NULL, '', concat(':', pairs.equal, '/', pairs.keys))
      ),
      ','
      ORDER BY pairs.position
    ) AS word,
    min(coalesce(pairs.unknown_because, 'content_missing'))
    FILTER (WHERE graded_expectations.stated AND pairs.equal IS NULL) AS hidden,
    count(*) > 1 AS is_choice
  FROM fitting_pairs AS pairs
  INNER JOIN call_turns USING (attempt_id, call_index)
  INNER JOIN attempts USING (attempt_id)
  INNER JOIN graded_expectations USING (task_id, position, turn)
  WHERE call_turns.graded
  GROUP BY attempt_id, call_index, turn
),

problems AS (
  SELECT
    attempt_id,
    turn,
    string_agg(word, ' ' ORDER BY call_index) AS problem,
    min(hidden) AS hidden,
    bool_or(is_choice AND hidden IS NOT NULL) AS hidden_choice
  FROM fits
  GROUP BY attempt_id, turn
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
