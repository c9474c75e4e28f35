-- Agents that a model requested by name as it requests tools, with no tool span above them.
--
-- They are inside another agent, or lost their parents. A hand-over requests another name: the
-- agent that took over is not included. An agent inside another of its name is not included
-- either, since the other one wraps it. If a tool span of their name ran at the same time, it
-- called them; otherwise they are the execution themselves.
--
-- Reads:
--   anchor_ends
--   bucket_spans
--   code_calls
--   code_texts
--   dialect_messages
--   known_parents
--   operations
-- Needs:
--   known_parents WHERE operation = 'agent' AND (parent IS NOT NULL OR top IN (SELECT key
--     FROM bucket_spans WHERE parent_span_id IS NOT NULL))
-- Columns:
--   key               BIGINT   Agent span; one row each.
--   caller            BIGINT   Key of that tool span, else of the last model span before it that
--                              requested it.
--   is_own_execution  BOOLEAN  There is no such tool span.
--   tool_name         VARCHAR  The agent's name.
-- Order:
--   none
WITH candidates AS (
  SELECT
    operations.key,
    operations.trace_id,
    operations.start_ns,
    operations.end_ns,
    coalesce(operations.agent_name, operations.agent_label) AS tool_name,
    above.start_ns AS above_start_ns,
    above.end_ns AS above_end_ns,
    -- A span around it without a name of its own, such as a crew around its agent.
    CASE
      WHEN
        above.operation = 'agent'
        AND coalesce(above.agent_name = operations.agent_name, above.agent_name IS NULL)
        THEN above.key
    END AS wrapper
  FROM known_parents
  INNER JOIN operations USING (key)
  LEFT JOIN anchor_ends ON known_parents.parent = anchor_ends.key
  LEFT JOIN operations AS above
    ON coalesce(anchor_ends.last, known_parents.parent) = above.key
  LEFT JOIN bucket_spans AS tops ON known_parents.top = tops.key
  WHERE
    known_parents.operation = 'agent'
    AND coalesce(above.operation, '') <> 'tool'
    AND (above.operation = 'agent' OR tops.parent_span_id IS NOT NULL)
    AND coalesce(
      coalesce(above.agent_name, above.agent_label)
      <> coalesce(operations.agent_name, operations.agent_label),
      TRUE
    )
),

requested AS (
  SELECT
    dialect_messages.key,
    dialect_messages.tool_name
  FROM dialect_messages
  WHERE
    dialect_messages.direction = 'out'
    AND dialect_messages.part_type = 'tool_call'
    AND dialect_messages.tool_name IN (SELECT candidates.tool_name FROM candidates)
  UNION ALL
  SELECT
    dialect_messages.key,
    code_calls.tool_name
  FROM dialect_messages
  INNER JOIN code_texts USING (text)
  INNER JOIN code_calls USING (code)
  WHERE
    dialect_messages.direction = 'out'
    AND dialect_messages.part_type = 'text'
    AND code_calls.tool_name IN (SELECT candidates.tool_name FROM candidates)
),

called_by_tools AS (
  SELECT
    candidates.key,
    arg_max(tools.key, (tools.start_ns, tools.span_id)) AS caller,
    FALSE AS is_own_execution,
    any_value(candidates.tool_name) AS tool_name,
    -- The tool called an agent that this one is part of: the two are one run.
    bool_or(
      candidates.above_start_ns >= tools.start_ns AND candidates.above_end_ns <= tools.end_ns
    ) AS is_wrapped
  FROM candidates
  INNER JOIN operations AS tools
    ON
      candidates.trace_id = tools.trace_id
      AND candidates.tool_name = tools.tool_name
      AND candidates.start_ns >= tools.start_ns
      AND candidates.end_ns <= tools.end_ns
  WHERE tools.operation = 'tool'
  GROUP BY candidates.key
),

-- If a span wraps the agent and also began after the request, that span was called.
requested_agents AS (
  SELECT
    if(
      any_value(candidates.above_start_ns) > max(requesting.start_ns),
      coalesce(any_value(candidates.wrapper), candidates.key),
      candidates.key
    ) AS key,
    arg_max(requesting.key, (requesting.start_ns, requesting.span_id)) AS caller,
    any_value(candidates.tool_name) AS tool_name
  FROM candidates
  ANTI JOIN called_by_tools ON candidates.key = called_by_tools.key
  INNER JOIN requested USING (tool_name)
  INNER JOIN operations AS requesting
    ON
      requested.key = requesting.key
      AND candidates.trace_id = requesting.trace_id
      AND candidates.start_ns > requesting.start_ns
  WHERE requesting.operation = 'model'
  GROUP BY candidates.key
)

SELECT * EXCLUDE (is_wrapped)
FROM called_by_tools
WHERE is_wrapped IS NOT TRUE
UNION ALL BY NAME
SELECT
  key,
  min(caller) AS caller,
  TRUE AS is_own_execution,
  min(tool_name) AS tool_name
FROM requested_agents
GROUP BY key;
