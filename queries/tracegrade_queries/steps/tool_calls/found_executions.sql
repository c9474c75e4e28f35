-- Executed tool calls: spans of one call are one row, their fields coalesced from the outside in.
--
-- Reads:
--   operations
--   tool_spans
--   tool_ends
-- Needs:
--   tool_spans
-- Columns:
--   key              BIGINT   The outermost span; one row each.
--   run              BIGINT
--   scope_name       VARCHAR
--   tool_name        VARCHAR  '' if no span names it.
--   call_id          VARCHAR
--   arguments        VARCHAR  Canonical JSON if any span has it, else text as sent.
--   match_arguments  VARCHAR  Canonical JSON object; NULL if unknown.
--   result           VARCHAR  For an agent, its answer.
--   from_log         BOOLEAN  All spans were made from replies in a message log, which may lack
--                             others.
--   failed           BOOLEAN  Any of the spans failed.
--   paused           BOOLEAN  The outermost span waits for a person or another system.
--   error_type       VARCHAR
--   error_message    VARCHAR
--   effect           VARCHAR
--   cost             DOUBLE
--   start_ns         BIGINT   From the outermost span.
--   end_ns           BIGINT   From the outermost span.
--   ended            BOOLEAN  Any of the spans has an end.
--   dropped          BOOLEAN  Attributes of every span were dropped.
-- Order:
--   none
WITH members AS (
  SELECT
    coalesce(tool_ends.last, tool_spans.key) AS execution,
    create_sort_key(
      tool_spans.start_ns,
      'ASC NULLS LAST',
      tool_spans.end_ns,
      'DESC NULLS LAST',
      tool_spans.span_id,
      'ASC NULLS LAST'
    ) AS outside_in,
    tool_spans.*
  FROM tool_spans
  LEFT JOIN tool_ends USING (key)
)

SELECT
  members.execution AS key,
  any_value(members.run) AS run,
  arg_min(members.scope_name, members.outside_in) AS scope_name,
  coalesce(arg_min(nullif(members.tool_name, ''), members.outside_in), '') AS tool_name,
  arg_min(members.call_id, members.outside_in) AS call_id,
  coalesce(
    arg_min(members.match_arguments, members.outside_in),
    arg_min(members.arguments, members.outside_in)
  ) AS arguments,
  arg_min(members.match_arguments, members.outside_in) AS match_arguments,
  arg_min(coalesce(operations.result, operations.answer), members.outside_in) AS result,
  bool_and(operations.from_log) AS from_log,
  bool_or(operations.failed) AS failed,
  bool_or(operations.paused) FILTER (WHERE members.key = members.execution) AS paused,
  arg_min(operations.error_type, members.outside_in) AS error_type,
  arg_min(operations.error_message, members.outside_in) AS error_message,
  arg_min(operations.effect, members.outside_in) AS effect,
  arg_min(operations.cost, members.outside_in) AS cost,
  min(members.start_ns) FILTER (WHERE members.key = members.execution) AS start_ns,
  min(members.end_ns) FILTER (WHERE members.key = members.execution) AS end_ns,
  bool_or(operations.ended) AS ended,
  bool_and(operations.dropped) AS dropped
FROM members
INNER JOIN operations ON members.key = operations.key
GROUP BY members.execution;
