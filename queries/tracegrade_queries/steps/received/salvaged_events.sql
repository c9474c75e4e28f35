-- What is whole of attributes of events that were cut.
--
-- Reads:
--   cut_events
--   whole_prefixes
-- Needs:
--   cut_events
-- Columns:
--   key         BIGINT                 Of the span in bucket_spans.
--   position    BIGINT                 Of the event among those of the span.
--   attributes  MAP(VARCHAR, VARCHAR)  Those that were cut, as far as anything of them is whole.
-- Order:
--   none
SELECT
  cut_events.key,
  cut_events.position,
  map_from_entries(list((cut_events.name, whole_prefixes.prefix))) AS attributes
FROM cut_events
INNER JOIN whole_prefixes USING (text)
WHERE whole_prefixes.prefix IS NOT NULL
GROUP BY cut_events.key, cut_events.position;
