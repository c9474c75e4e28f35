-- The intact part of attributes of events that were cut.
--
-- Reads:
--   cut_events
--   whole_prefixes
-- Needs:
--   cut_events
-- Columns:
--   key         BIGINT                 Key of the span in bucket_spans.
--   position    BIGINT                 Position of the event among those of the span.
--   attributes  MAP(VARCHAR, VARCHAR)  The intact parts of cut attributes.
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
