-- Records of model calls in traces with repeated ids, one row for each record.
--
-- The spans of one call that are nested in one another are one record.
--
-- Reads:
--   dialect_messages
--   known_parents
--   model_edges
--   model_ends
--   operations
--   repeating_traces
--   response_ids
--   placed_operations
--   bucket_spans
-- Needs:
--   repeating_traces
-- Columns:
--   record         BIGINT   Key of the outermost of its spans; one row each.
--   trace_id       VARCHAR
--   run            BIGINT
--   position       BIGINT   Records of one call have one position: the run, or the conversation;
--                           NULL if an id distinguishes them from those of all other runs.
--   rank           BIGINT   The call's first record counts: a record with its parents comes first,
--                           then the earliest.
--   scope_name     VARCHAR
--   start_ns       BIGINT
--   end_ns         BIGINT
--   failed         BOOLEAN
--   input_tokens   BIGINT
--   output_tokens  BIGINT
--   response_id    VARCHAR
--   output         HUGEINT  Digest of its output; NULL if it was not recorded.
--   input          HUGEINT  Digest of its input; NULL if it was not recorded.
--   requests       BOOLEAN  It requests a tool by an id.
--   hears_own      BOOLEAN  Its input contains a call with the id of one that it requests.
-- Order:
--   none
WITH members AS (
  SELECT
    operations.key,
    coalesce(model_ends.last, operations.key) AS record
  FROM operations
  SEMI JOIN repeating_traces USING (trace_id)
  LEFT JOIN model_ends USING (key)
  WHERE operations.operation = 'model'
),

-- Spans around several calls are not records.
around AS (
  SELECT DISTINCT known_parents.parent AS record
  FROM known_parents
  ANTI JOIN model_edges USING (key)
  WHERE known_parents.operation = 'model' AND known_parents.parent_operation = 'model'
),

recorded AS (
  SELECT
    members.record,
    members.key,
    parts.direction,
    parts.precedence,
    count(*) AS parts,
    sum(
      part_digest(
        parts.part_type,
        parts.tool_name,
        parts.call_id,
        parts.arguments,
        coalesce(parts.result, parts.text)
      )
    ) AS digest,
    list(parts.call_id) FILTER (WHERE parts.call_id <> '') AS call_ids,
    bool_or(parts.direction = 'out' AND is_random_id(parts.call_id)) AS has_random_id
  FROM members
  INNER JOIN dialect_messages AS parts USING (key)
  WHERE
    parts.part_type IN (
      'tool_call', 'tool_call_response', 'server_tool_call', 'server_tool_call_response'
    )
    OR (parts.part_type = 'text' AND trim(parts.text) <> '')
  GROUP BY members.record, members.key, parts.direction, parts.precedence
),

fullest AS (
  SELECT
    record,
    arg_max(digest, pair_order(parts, -precedence)) FILTER (WHERE direction = 'out') AS output,
    arg_max(digest, pair_order(parts, -precedence)) FILTER (WHERE direction = 'in') AS input,
    coalesce(bool_or(has_random_id), FALSE) AS has_random_id,
    arg_max(call_ids, pair_order(parts, -precedence)) FILTER (WHERE direction = 'out')
      AS requested,
    arg_max(call_ids, pair_order(parts, -precedence)) FILTER (WHERE direction = 'in') AS known
  FROM recorded
  GROUP BY record
),

stated AS (
  SELECT
    members.record,
    min(response_ids.response_id) AS response_id,
    max(operations.input_tokens) AS input_tokens,
    max(operations.output_tokens) AS output_tokens,
    bool_or(operations.failed) AS failed
  FROM members
  ANTI JOIN around USING (record)
  INNER JOIN operations USING (key)
  LEFT JOIN response_ids USING (key)
  GROUP BY members.record
)

SELECT
  stated.record,
  operations.trace_id,
  placed_operations.run,
  CASE
    WHEN
      stated.response_id IS NULL
      AND fullest.has_random_id IS NOT TRUE
      THEN
        if(
          agents.conversation_id IS NULL,
          placed_operations.run,
          (hash(agents.conversation_id) >> 1)::BIGINT
        )
  END AS position,
  row_number() OVER (
    ORDER BY
      coalesce(tops.parent_span_id IS NOT NULL, FALSE), operations.start_ns, operations.span_id,
      operations.key
  ) AS rank,
  operations.scope_name,
  operations.start_ns,
  operations.end_ns,
  stated.failed,
  stated.input_tokens,
  stated.output_tokens,
  stated.response_id,
  fullest.output,
  fullest.input,
  coalesce(len(fullest.requested) > 0, FALSE) AS requests,
  coalesce(list_has_any(fullest.requested, fullest.known), FALSE) AS hears_own
FROM stated
INNER JOIN operations ON stated.record = operations.key
INNER JOIN placed_operations ON stated.record = placed_operations.key
INNER JOIN known_parents ON stated.record = known_parents.key
LEFT JOIN bucket_spans AS tops ON known_parents.top = tops.key
LEFT JOIN operations AS agents ON placed_operations.run = agents.key
LEFT JOIN fullest ON stated.record = fullest.record;
