-- Searches and operations on memory that the program made itself, as calls.
--
-- One below a tool's span, or below another one, is a part of that. A program calls nothing but
-- what it has, so they count as offered.
--
-- Reads:
--   canonical
--   known_parents
--   operation_runs
--   operations
--   retrieval_spans
-- Needs:
--   retrieval_spans
-- Columns:
--   call              BIGINT   Below 0 by the span; one row each.
--   run               BIGINT
--   model_call        BIGINT   NULL: no model requested it.
--   execution         BIGINT   The span.
--   anchor_ns         BIGINT   Start of the span.
--   message_position  BIGINT   0.
--   part_position     BIGINT   0.
--   execution_ns      BIGINT   Start of the span.
--   kind              VARCHAR  tool_call.
--   tool_name         VARCHAR
--   call_id           VARCHAR  NULL.
--   arguments         VARCHAR  Canonical JSON, else as sent.
--   parsed            BOOLEAN
--   request_parsed    BOOLEAN
--   result            VARCHAR  NULL if it was not told.
--   observed          VARCHAR  NULL: it is in what the program tells the model later.
--   status            VARCHAR  ok | error | unknown.
--   status_source     VARCHAR  span.
--   error_type        VARCHAR
--   error_message     VARCHAR
--   effect            VARCHAR
--   cost              DOUBLE
--   offered           BOOLEAN  TRUE.
--   executed_by       VARCHAR  program.
-- Order:
--   none
SELECT
  -1 - operations.key AS call,
  operation_runs.run,
  NULL::BIGINT AS model_call,
  operations.key AS execution,
  operations.start_ns AS anchor_ns,
  0::BIGINT AS message_position,
  0::BIGINT AS part_position,
  operations.start_ns AS execution_ns,
  'tool_call' AS kind,
  retrieval_spans.tool_name,
  NULL::VARCHAR AS call_id,
  coalesce(canonical.canonical, retrieval_spans.arguments) AS arguments,
  retrieval_spans.arguments IS NULL OR canonical.canonical IS NOT NULL AS parsed,
  TRUE AS request_parsed,
  retrieval_spans.result,
  NULL::VARCHAR AS observed,
  CASE
    WHEN operations.failed THEN 'error'
    WHEN operations.ended THEN 'ok'
    ELSE 'unknown'
  END AS status,
  'span' AS status_source,
  operations.error_type,
  operations.error_message,
  retrieval_spans.effect,
  operations.cost,
  TRUE AS offered,
  'program' AS executed_by
FROM retrieval_spans
INNER JOIN operations USING (key)
INNER JOIN operation_runs USING (key)
INNER JOIN known_parents USING (key)
LEFT JOIN canonical ON retrieval_spans.arguments = canonical.text
WHERE
  operations.operation = 'retrieval'
  AND coalesce(known_parents.parent_operation, '') NOT IN ('tool', 'retrieval');
