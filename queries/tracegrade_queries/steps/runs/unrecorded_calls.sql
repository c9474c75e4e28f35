-- Runs that made, or may have made, tool calls that the trace does not contain.
--
-- There are four cases. A model stopped to call tools, and until the next model call there is no
-- request, no execution and no hand-off. Or the run has no tool span, and a model call has neither
-- output nor stop reason, unless it used no tokens; or its output may be among the attributes or
-- events that the exporter dropped. Or the run has neither requests nor tool spans, and a later
-- model call was given a result that the first one was not. Or a conversation's model call is its
-- whole trace, and its input is missing: it may have held results of calls in other traces.
--
-- Reads:
--   message_dialects
--   model_calls
--   model_members
--   model_parts
--   next_calls
--   operations
--   recovered_parts
--   requests
--   run_starts
--   run_ids
--   operation_runs
--   stop_reasons
-- Needs:
--   operations WHERE operation = 'model' OR dropped
-- Columns:
--   run  BIGINT  One row each.
-- Order:
--   none
WITH stopped AS (
  SELECT
    model_members.model_call,
    min(operations.start_ns) AS start_ns
  FROM stop_reasons
  INNER JOIN model_members USING (key)
  INNER JOIN operations USING (key)
  ANTI JOIN requests
    ON model_members.model_call = requests.model_call AND NOT requests.is_carried
  WHERE stop_reasons.for_tools
  GROUP BY model_members.model_call
),

speaking AS (
  SELECT key FROM message_dialects
  WHERE direction = 'out'
),

-- A model call that failed, or never ended, has no output.
silent AS (
  SELECT
    model_members.model_call,
    coalesce(max(operations.output_tokens), 1) > 0 AS may_have_output,
    bool_or(operations.dropped) AS dropped,
    bool_or(stop_reasons.key IS NOT NULL) AS has_stop_reason
  FROM model_members
  INNER JOIN operations USING (key)
  LEFT JOIN stop_reasons USING (key)
  WHERE operations.ended AND NOT operations.failed AND operations.plan IS NULL
  GROUP BY model_members.model_call
  HAVING NOT bool_or(model_members.key IN (FROM speaking))
),

-- Results by id, with the first model call that was given each.
given AS (
  SELECT
    model_calls.run,
    model_parts.call_id,
    min(model_calls.start_ns) AS start_ns
  FROM model_parts
  INNER JOIN model_calls USING (model_call)
  WHERE model_parts.direction = 'in' AND model_parts.part_type = 'tool_call_response'
  GROUP BY model_calls.run, model_parts.call_id
),

first_calls AS (
  SELECT
    run,
    min(start_ns) AS start_ns
  FROM model_calls
  GROUP BY run
),

-- Output may be spread over many attributes, and some of them were dropped.
lacking AS (
  SELECT operation_runs.run
  FROM silent
  INNER JOIN operation_runs ON silent.model_call = operation_runs.key
  ANTI JOIN recovered_parts ON silent.model_call = recovered_parts.model_call
  WHERE silent.dropped OR (silent.may_have_output AND NOT silent.has_stop_reason)
  UNION
  SELECT operation_runs.run
  FROM operations
  INNER JOIN operation_runs USING (key)
  WHERE operations.dropped AND operations.operation IN ('agent', 'model', 'other')
  UNION
  SELECT given.run
  FROM given
  INNER JOIN first_calls USING (run)
  WHERE given.start_ns > first_calls.start_ns
),

hearing AS (
  SELECT key FROM message_dialects
  WHERE direction = 'in'
),

alone AS (
  SELECT operation_runs.run
  FROM run_ids
  INNER JOIN operation_runs USING (run)
  INNER JOIN operations USING (key)
  WHERE run_ids.root IS NULL
  GROUP BY operation_runs.run
  HAVING
    count(*) = 1
    AND bool_and(
      operations.operation = 'model'
      AND operations.conversation_id IS NOT NULL
      AND operations.key NOT IN (FROM hearing)
    )
),

acts AS (
  SELECT
    operation_runs.run,
    operations.start_ns
  FROM operations
  INNER JOIN operation_runs USING (key)
  WHERE
    operations.operation IN ('tool', 'handoff', 'plan')
    AND operation_runs.run IN (
      SELECT lacking.run FROM lacking
      UNION ALL
      SELECT of_stopped.run
      FROM stopped
      INNER JOIN operation_runs AS of_stopped ON stopped.model_call = of_stopped.key
    )
  UNION ALL
  SELECT
    calling.run,
    run_starts.start_ns
  FROM run_starts
  INNER JOIN operation_runs AS calling ON run_starts.caller = calling.key
),

followed AS (
  SELECT DISTINCT stopped.model_call
  FROM stopped
  INNER JOIN operation_runs ON stopped.model_call = operation_runs.key
  INNER JOIN acts ON operation_runs.run = acts.run
  LEFT JOIN next_calls ON stopped.model_call = next_calls.model_call
  WHERE
    acts.start_ns >= stopped.start_ns
    AND (next_calls.next_ns IS NULL OR acts.start_ns < next_calls.next_ns)
)

SELECT operation_runs.run
FROM stopped
INNER JOIN operation_runs ON stopped.model_call = operation_runs.key
ANTI JOIN followed ON stopped.model_call = followed.model_call
UNION
SELECT lacking.run
FROM lacking
ANTI JOIN acts ON lacking.run = acts.run
ANTI JOIN requests ON lacking.run = requests.run
UNION
SELECT alone.run
FROM alone
ANTI JOIN requests ON alone.run = requests.run;
