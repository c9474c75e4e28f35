-- Verdicts on the bucket's runs from evaluators' `gen_ai.evaluation.result` events.
--
-- An evaluation named success is about the run. One named sub_goal is about the sub-goal that it
-- names, or else the evaluated span names; evaluations of other names are about neither. An
-- evaluation belongs to the run of its span, by the nearest operation above, or to the whole trace
-- if there is none. If there are several, the last one counts, and one of the agent itself counts
-- more than one of a span below. Scores that were sent out of a lake and came back do not count:
-- they would confirm themselves. Each of them carries an id.
--
-- Reads:
--   evaluation_results
--   operations
--   run_ids
--   operation_runs
--   unknown_ends
-- Needs:
--   evaluation_results
-- Columns:
--   trajectory_id  VARCHAR  One row for each trajectory_id, subject and sub_goal; or a trace id.
--   subject        VARCHAR  success | sub_goal.
--   sub_goal       VARCHAR  Name of the sub-goal if subject is sub_goal; else NULL.
--   kill_point      VARCHAR  NULL.
--   value          DOUBLE   NULL if only a label was given.
--   label          VARCHAR  NULL if only a value was given; error if the evaluator failed.
--   source         VARCHAR  gen_ai.evaluation.result.
--   evidence       VARCHAR  Its explanation, else its error; NULL if none.
-- Order:
--   trajectory_id, subject, sub_goal
WITH placed AS (
  SELECT
    coalesce(run_ids.trajectory_id, results.trace_id) AS trajectory_id,
    coalesce(operations.operation = 'agent', FALSE) AS is_of_agent,
    results.time_ns,
    lower(results.attributes['gen_ai.evaluation.name']) AS subject,
    coalesce(results.attributes['tracegrade.sub_goal.id'], operations.sub_goal) AS sub_goal,
    try_cast(results.attributes['gen_ai.evaluation.score.value'] AS DOUBLE) AS value,
    coalesce(
      nullif(results.attributes['gen_ai.evaluation.score.label'], ''),
      if(results.attributes['error.type'] IS NOT NULL, 'error', NULL)
    ) AS label,
    coalesce(results.attributes['gen_ai.evaluation.explanation'], results.attributes['error.type'])
      AS evidence
  FROM evaluation_results AS results
  LEFT JOIN operations USING (key)
  LEFT JOIN operation_runs USING (key)
  LEFT JOIN unknown_ends USING (key)
  LEFT JOIN operation_runs AS above ON unknown_ends.last = above.key
  LEFT JOIN run_ids ON coalesce(operation_runs.run, above.run) = run_ids.run
  WHERE results.attributes['tracegrade.evaluation.id'] IS NULL
)

SELECT
  trajectory_id,
  subject,
  if(subject = 'sub_goal', sub_goal, NULL) AS sub_goal,
  NULL::VARCHAR AS kill_point,
  value,
  label,
  'gen_ai.evaluation.result' AS source,
  evidence
FROM placed
WHERE
  (value IS NOT NULL OR label IS NOT NULL)
  AND (subject = 'success' OR (subject = 'sub_goal' AND sub_goal IS NOT NULL))
QUALIFY
  row_number() OVER (
    PARTITION BY placed.trajectory_id, placed.subject, if(subject = 'sub_goal', sub_goal, NULL)
    ORDER BY
      placed.is_of_agent DESC, placed.time_ns DESC, placed.value DESC, placed.label DESC,
      placed.evidence DESC
  ) = 1
ORDER BY trajectory_id, subject, sub_goal;
