-- Texts of attributes and events that an exporter cut, and whether a model heard or said them.
--
-- Reads:
--   cut_events
--   cut_texts
-- Needs:
--   cut_texts or cut_events
-- Columns:
--   key        BIGINT   Key of the span in bucket_spans.
--   text       VARCHAR  As sent; one row for each key, text and direction.
--   direction  VARCHAR  in | out; NULL of all else, such as definitions or arguments of tools.
-- Order:
--   none
SELECT
  key,
  text,
  CASE
    WHEN regexp_matches(name, 'input|prompt|request') THEN 'in'
    WHEN regexp_matches(name, 'output|completion|response') THEN 'out'
  END AS direction
FROM cut_texts
UNION
SELECT
  key,
  text,
  CASE
    WHEN name IN ('gen_ai.input.messages', 'gen_ai.prompt', 'content', 'tool_calls') THEN 'in'
    WHEN name IN ('gen_ai.output.messages', 'gen_ai.completion', 'message') THEN 'out'
    WHEN name = 'gen_ai.event.content' THEN 'out'
  END AS direction
FROM cut_events;
