-- The intact part of attributes of spans that were cut.
--
-- Reads:
--   cut_texts
--   whole_prefixes
-- Needs:
--   cut_texts
-- Columns:
--   key         BIGINT                 Key of the span in bucket_spans; one row each.
--   attributes  MAP(VARCHAR, VARCHAR)  The intact parts of cut attributes.
-- Order:
--   none
SELECT
  cut_texts.key,
  map_from_entries(list((cut_texts.name, whole_prefixes.prefix))) AS attributes
FROM cut_texts
INNER JOIN whole_prefixes USING (text)
WHERE whole_prefixes.prefix IS NOT NULL
GROUP BY cut_texts.key;
