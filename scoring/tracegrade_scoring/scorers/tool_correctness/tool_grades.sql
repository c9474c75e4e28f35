-- The four dimensions of tool correctness in each turn of an attempt, each as part / whole.
--
-- Source: [Agentic], "Tool Correctness"; docs/metrics.md, section 2.2. Differs from the paper:
-- calls are matched one to one by the best assignment, and order is a common subsequence.
--
-- Reads:
--   attempts
--   call_turns
--   grading_problems
--   grading_solutions
--   tasks
--   utilizations
-- Needs:
--   grading_problems
-- Columns:
--   attempt_id    INTEGER   An attempt whose task states expectations.
--   turn          INTEGER   -1 where they are not given by turn; one row for each of the two.
--   parts         DOUBLE[]  Of selection: calls matched by name; of parameters: the sum of
--                           argument similarities; of sequence: calls in the expected order; of
--                           utilization: results used later. NULL where not applicable.
--   wholes        DOUBLE[]  Expected and made calls together (only expected ones where others are
--                           free); expected calls that state arguments; expected calls; results
--                           with a distinctive token.
--   all_wrong     BOOLEAN   Calls were expected and none made, or the reverse.
--   hidden        VARCHAR   Why similarities cannot be known; NULL if they can.
--   hidden_order  VARCHAR   Why the order cannot; NULL if it can.
-- Order:
--   none
WITH results AS (
  SELECT
    utilizations.attempt_id,
    call_turns.turn,
    count(*) AS results,
    count_if(utilizations.used) AS used
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
    problems.used,
    tasks.expected_complete = 'false' AS others_free,
    tasks.sequence_matters,
    solutions.matched,
    solutions.similarity,
    solutions.common,
    results.results,
    results.used AS results_used,
    problems.hidden,
    if(problems.hidden_choice AND tasks.sequence_matters, problems.hidden, NULL) AS hidden_order
  FROM grading_problems AS problems
  INNER JOIN attempts USING (attempt_id)
  INNER JOIN tasks USING (task_id)
  INNER JOIN grading_solutions AS solutions USING (problem)
  LEFT JOIN results USING (attempt_id, turn)
)

SELECT
  attempt_id,
  turn,
  [
    if(expected + if(others_free, 0, used) = 0, NULL, matched),
    if(stated = 0, NULL, similarity),
    if(expected = 0, NULL, if(sequence_matters OR used = 0, common, expected)),
    results_used
  ]::DOUBLE[] AS parts,
  [if(others_free, expected, expected + used - matched), stated, expected, results]::DOUBLE[]
    AS wholes,
  (expected = 0) <> (used = 0) AND NOT (expected = 0 AND others_free) AS all_wrong,
  hidden,
  hidden_order
FROM measured;
