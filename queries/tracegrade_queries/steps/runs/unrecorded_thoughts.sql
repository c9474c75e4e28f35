-- Runs whose trace cannot show what the agent thought or planned before its first call.
--
-- No thought, plan or text before that call is in the trace, and one of these holds. A model call
-- until then has no output. The content of a thought, a plan or a message was not captured. No
-- call of the run has arguments or a result. Or nothing could have observed it: only the harness
-- watched the calls, or there is no model call and the spans do not come from tracegrade's
-- instrumentation, in which agents declare plans and thoughts.
--
-- Reads:
--   calls
--   message_dialects
--   model_calls
--   model_members
--   operations
--   recovered_parts
--   run_ids
--   operation_runs
--   step_rows
-- Columns:
--   run  BIGINT  One row each.
-- Order:
--   none
WITH first_calls AS (
  SELECT
    step_rows.run,
    min(step_rows.step_index) AS step_index,
    min(operations.start_ns) AS start_ns,
    bool_and(calls.arguments IS NULL AND calls.result IS NULL) AS without_content
  FROM step_rows
  INNER JOIN calls USING (call)
  INNER JOIN operations ON step_rows.span_key = operations.key
  WHERE step_rows.kind = 'tool_call'
  GROUP BY step_rows.run
),

recorded AS (
  SELECT
    step_rows.run,
    bool_or(coalesce(step_rows.plan, step_rows.content) IS NOT NULL) AS has_content
  FROM step_rows
  LEFT JOIN first_calls USING (run)
  WHERE
    step_rows.role = 'assistant'
    AND step_rows.kind IN ('thought', 'plan', 'message', 'answer')
    AND coalesce(step_rows.step_index < first_calls.step_index, TRUE)
  GROUP BY step_rows.run
),

unseen AS (
  SELECT
    run_ids.run,
    recorded.run IS NOT NULL AS has_lost,
    coalesce(first_calls.without_content, FALSE) AS without_content,
    first_calls.start_ns
  FROM run_ids
  LEFT JOIN recorded USING (run)
  LEFT JOIN first_calls USING (run)
  WHERE recorded.has_content IS NOT TRUE
),

speaking AS (
  SELECT key FROM message_dialects
  WHERE direction = 'out'
),

-- A model call that failed, or never ended, has no output.
silent AS (
  SELECT unseen.run
  FROM unseen
  INNER JOIN model_calls USING (run)
  INNER JOIN model_members USING (model_call)
  INNER JOIN operations ON model_members.key = operations.key
  ANTI JOIN recovered_parts ON model_calls.model_call = recovered_parts.model_call
  WHERE
    coalesce(model_calls.start_ns <= unseen.start_ns, TRUE)
    AND operations.ended
    AND NOT operations.failed
  GROUP BY unseen.run, model_calls.model_call
  HAVING
    NOT bool_or(operations.key IN (FROM speaking))
    AND coalesce(max(operations.output_tokens), 1) > 0
),

-- The writers of a run's spans.
witnesses AS (
  SELECT
    unseen.run,
    bool_and(operations.scope_name = 'tracegrade.harness') AS harness_alone,
    bool_or(operations.scope_name IN ('tracegrade', 'tracegrade.import')) AS declares
  FROM unseen
  INNER JOIN operation_runs USING (run)
  INNER JOIN operations USING (key)
  ANTI JOIN model_calls ON unseen.run = model_calls.run
  GROUP BY unseen.run
)

SELECT unseen.run
FROM unseen
LEFT JOIN witnesses USING (run)
WHERE
  unseen.has_lost
  OR unseen.without_content
  OR unseen.run IN (FROM silent)
  OR witnesses.harness_alone
  OR NOT witnesses.declares;
