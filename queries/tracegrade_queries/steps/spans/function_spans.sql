-- Spans of functions that a model of their trace requested by name, and that no dialect knows.
--
-- A program that traces its own functions writes such spans next to those of a client's
-- instrumentation, which knows only the model calls. Decorators of platforms write them for
-- functions that the program did not mark as tools. The span has the tool's name, as `get_weather`
-- or `getWeather`, alone or after a qualifier (`tools.get_weather`, `tool: get_weather`), and
-- starts after the request. Where a dialect knows the executions of a tool, no others are looked
-- for.
--
-- Reads:
--   all_spans
--   dialect_messages
--   dialect_operations
--   shapes
--   unknown_fields
-- Needs:
--   dialect_messages WHERE part_type = 'tool_call' AND direction = 'out'
-- Columns:
--   key         BIGINT   One row each.
--   operation   VARCHAR  'tool'.
--   tool_name   VARCHAR  As the model wrote it.
--   arguments   VARCHAR  As `dialects/unknown.sql` finds them; NULL if no attribute has them.
--   result      VARCHAR  Likewise.
--   precedence  INTEGER  That of the dialect `unknown`.
--   dialect     VARCHAR  'unknown'.
-- Order:
--   none
WITH requested AS (
  SELECT
    all_spans.trace_id,
    lower(replace(dialect_messages.tool_name, '_', '')) AS letters,
    min(dialect_messages.tool_name) AS tool_name,
    min(all_spans.start_ns) AS start_ns
  FROM dialect_messages
  INNER JOIN all_spans USING (key)
  WHERE
    dialect_messages.direction = 'out'
    AND dialect_messages.part_type = 'tool_call'
    AND length(dialect_messages.tool_name) > 2
  GROUP BY all_spans.trace_id, letters
),

executed AS (
  SELECT DISTINCT
    all_spans.trace_id,
    lower(replace(dialect_operations.tool_name, '_', '')) AS letters
  FROM dialect_operations
  INNER JOIN all_spans USING (key)
  WHERE dialect_operations.operation = 'tool'
),

names AS (
  SELECT
    name,
    lower(replace(name, '_', '')) AS all_letters,
    unnest(
      list_distinct([
        all_letters,
        string_split_regex(all_letters, '[ .:/]+')[-1],
        regexp_replace(all_letters, '[ .:/]+(call|function|task|tool)$', '')
      ])
    ) AS letters
  FROM all_spans
  GROUP BY name
),

named AS (
  SELECT
    all_spans.key,
    all_spans.shape,
    all_spans.attributes,
    requested.tool_name
  FROM all_spans
  INNER JOIN names USING (name)
  INNER JOIN requested USING (trace_id, letters)
  ANTI JOIN executed USING (trace_id, letters)
  WHERE
    all_spans.start_ns >= requested.start_ns
    AND all_spans.key NOT IN (
      SELECT dialect_operations.key FROM dialect_operations
      WHERE
        dialect_operations.operation <> 'other'
        OR dialect_operations.dialect NOT IN (
          'laminar', 'langsmith', 'logfire', 'platforms', 'traceloop'
        )
    )
),

fields AS (
  SELECT
    shapes.shape,
    unnest(shapes.names) AS name
  FROM shapes
  SEMI JOIN named USING (shape)
),

roles AS (
  SELECT
    fields.shape,
    arg_min(
      fields.name, (unknown_fields.rank, length(fields.name), fields.name)
    ) FILTER (WHERE unknown_fields.role = 'input') AS input,
    arg_min(
      fields.name, (unknown_fields.rank, length(fields.name), fields.name)
    ) FILTER (WHERE unknown_fields.role = 'output') AS output,
    bool_or(unknown_fields.role = 'foreign') AS is_foreign
  FROM fields
  INNER JOIN unknown_fields USING (name)
  GROUP BY fields.shape
)

SELECT
  named.key,
  'tool' AS operation,
  min(named.tool_name) AS tool_name,
  function_input(any_value(named.attributes[roles.input])) AS arguments,
  result_text(any_value(named.attributes[roles.output])) AS result,
  1000 AS precedence,
  'unknown' AS dialect
FROM named
LEFT JOIN roles USING (shape)
WHERE NOT coalesce(roles.is_foreign, FALSE)
GROUP BY named.key;
