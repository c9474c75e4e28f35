-- Events of the spans of this bucket, with the rest of attributes that were cut.
--
-- The columns are those of sent_events.
--
-- Reads:
--   salvaged_events
-- Takes:
--   sent_events
-- Needs:
--   salvaged_events
-- Order:
--   none
UPDATE bucket_events SET
  attributes = map_concat(bucket_events.attributes, salvaged_events.attributes)
FROM salvaged_events
WHERE
  bucket_events.key = salvaged_events.key
  AND bucket_events.position = salvaged_events.position;
