-- The four dimensions of tool correctness as the paper's text has them, in place of `tool_grades`.
--
-- An expectation is compared with the first call of its name, even if several expect it. The order
-- is the place in the turn, and the answer uses the tools or it does not. Source: [Agentic], "Tool
-- Correctness"; docs/metrics.md, section 2.4. What the paper leaves open, a turn without anything
-- to measure, is not applicable (docs/metrics.md, section 0.1).
--
-- Reads:
--   attempts
--   call_turns
--   calls
--   calls_fitting_expected
--   graded_expectations
--   grading_problems
--   task_expected
--   tasks
--   utilizations
-- Replaces:
--   tool_grades
-- When:
--   compat = agentic
-- Columns:
--   attempt_id    INTEGER   An attempt whose task states expectations.
--   turn          INTEGER   -1 where they are not given by turn; one row for each of the two.
--   parts         DOUBLE[]  Of selection: tool names used that fit; of parameters: the sum of
--                           argument similarities; of sequence: expected calls made at their
--                           place; of utilization: 1 if a result was used later, else 0. NULL
--                           where not applicable.
--   wholes        DOUBLE[]  Tool names expected or used; expected calls that state arguments;
--                           expected calls; 1.
--   all_wrong     BOOLEAN   FALSE: the paper has no rule for it.
--   hidden        VARCHAR   Why similarities cannot be known; NULL if they can.
--   hidden_order  VARCHAR   NULL: places are known.
-- Order:
--   none
WITH expectations AS (
  SELECT
    graded_expectations.*,
    coalesce(task_expected.tool_name, task_expected.effect) AS name,
    row_number() OVER (
      PARTITION BY graded_expectations.task_id, graded_expectations.turn
      ORDER BY graded_expectations.position
    ) AS order_in_turn
  FROM graded_expectations
  INNER JOIN task_expected USING (task_id, position)
),

made AS (
  SELECT
    call_turns.attempt_id,
    call_turns.turn,
    call_turns.call_index,
    calls.tool_name,
    attempts.task_id,
    row_number() OVER (
      PARTITION BY call_turns.attempt_id, call_turns.turn ORDER BY call_turns.call_index
    ) AS order_in_turn
  FROM call_turns
  INNER JOIN calls USING (attempt_id, call_index)
  INNER JOIN attempts USING (attempt_id)
  WHERE call_turns.graded
),

fits AS (
  SELECT
    made.attempt_id,
    made.turn,
    made.tool_name,
    made.order_in_turn,
    expectations.position,
    expectations.name,
    expectations.order_in_turn AS expected_order,
    expectations.stated,
    pairs.equal / nullif(pairs.keys, 0) AS similarity,
    pairs.equal IS NULL AS unknown,
    pairs.unknown_because,
    row_number() OVER (
      PARTITION BY made.attempt_id, expectations.position ORDER BY made.order_in_turn
    ) AS rank
  FROM calls_fitting_expected AS pairs
  INNER JOIN made USING (attempt_id, call_index)
  INNER JOIN expectations USING (task_id, position, turn)
),

first_fits AS (
  SELECT
    attempt_id,
    turn,
    count(DISTINCT name) AS names_found,
    count(*) FILTER (WHERE order_in_turn = expected_order) AS in_place,
    -- Without keys on either side all are equal.
    coalesce(
      sum(coalesce(similarity, 1) ORDER BY position) FILTER (WHERE stated AND NOT unknown), 0
    ) AS similarity,
    min(coalesce(unknown_because, 'content_missing')) FILTER (WHERE stated AND unknown) AS hidden
  FROM fits
  WHERE rank = 1
  GROUP BY attempt_id, turn
),

names_fitting AS (
  SELECT
    attempt_id,
    turn,
    count(DISTINCT tool_name) AS names
  FROM fits
  GROUP BY attempt_id, turn
),

names_used AS (
  SELECT
    attempt_id,
    turn,
    count(DISTINCT tool_name) AS names
  FROM made
  GROUP BY attempt_id, turn
),

names_expected AS (
  SELECT
    task_id,
    turn,
    count(DISTINCT name) AS names
  FROM expectations
  GROUP BY task_id, turn
),

results AS (
  SELECT
    utilizations.attempt_id,
    call_turns.turn,
    bool_or(utilizations.used) AS used
  FROM utilizations
  INNER JOIN call_turns USING (attempt_id, call_index)
  GROUP BY utilizations.attempt_id, call_turns.turn
),

measured AS (
  SELECT
    problems.attempt_id,
    problems.turn,
    problems.expected,
    problems.stated,
    tasks.sequence_matters,
    coalesce(names_used.names, 0)
    + coalesce(names_expected.names, 0)
    - coalesce(first_fits.names_found, 0) AS names,
    coalesce(names_fitting.names, 0) AS names_fitting,
    coalesce(first_fits.similarity, 0) AS similarity,
    coalesce(first_fits.in_place, 0) AS in_place,
    first_fits.hidden,
    results.used
  FROM grading_problems AS problems
  INNER JOIN attempts USING (attempt_id)
  INNER JOIN tasks USING (task_id)
  LEFT JOIN first_fits USING (attempt_id, turn)
  LEFT JOIN names_fitting USING (attempt_id, turn)
  LEFT JOIN names_used USING (attempt_id, turn)
  LEFT JOIN names_expected USING (task_id, turn)
  LEFT JOIN results USING (attempt_id, turn)
)

SELECT
  attempt_id,
  turn,
  [
    if(names = 0, NULL, names_fitting),
    if(stated = 0, NULL, similarity),
    if(expected = 0, NULL, if(sequence_matters, in_place, expected)),
    used::INTEGER
  ]::DOUBLE[] AS parts,
  [names, stated, expected, if(used IS NULL, NULL, 1)]::DOUBLE[] AS wholes,
  FALSE AS all_wrong,
  hidden,
  NULL::VARCHAR AS hidden_order
FROM measured;
