-- Attributes of events that hold JSON which starts and does not end: the exporter cut them.
--
-- Results are left out: a cut text is the captured part of them.
--
-- Reads:
--   sent_events
--   mended_spans
-- Needs:
--   sent_events
-- Columns:
--   key       BIGINT   Key of the span in bucket_spans.
--   position  BIGINT   Position of the event among those of the span.
--   name      VARCHAR  Name of the attribute.
--   text      VARCHAR
-- Order:
--   none
WITH entries AS (
  SELECT
    key,
    position,
    name AS event_name,
    unnest(
      list_filter(
        map_entries(attributes),
        LAMBDA entry:
        entry.key IN (
          'gen_ai.input.messages', 'gen_ai.output.messages', 'gen_ai.tool.definitions',
          'gen_ai.prompt', 'gen_ai.completion', 'gen_ai.event.content', 'content', 'message',
          'tool_calls', 'tool_input'
        )
        AND (starts_with(entry.value, '[') OR starts_with(entry.value, '{'))
        AND NOT (ends_with(entry.value, ']') OR ends_with(entry.value, '}'))
      )
    ) AS entry
  FROM sent_events
  WHERE name <> 'tool.output'
)

SELECT
  entries.key,
  entries.position,
  entries.entry.key AS name,
  entries.entry.value AS text
FROM entries
INNER JOIN mended_spans USING (key)
WHERE
  -- A tool's first message is its arguments, and its choice the result.
  entries.event_name <> CASE mended_spans.attributes['gen_ai.operation.name']
    WHEN 'execute_tool' THEN 'gen_ai.choice'
    ELSE 'gen_ai.tool.message'
  END;
