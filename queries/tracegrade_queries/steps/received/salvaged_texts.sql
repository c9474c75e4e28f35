-- What is whole of attributes of spans that were cut.
--
-- Reads:
--   cut_texts
--   whole_prefixes
-- Needs:
--   cut_texts
-- Columns:
--   key         BIGINT                 Of the span in bucket_spans; one row each.
--   attributes  MAP(VARCHAR, VARCHAR)  Those that were cut, as far as anything of them is whole.
-- Order:
--   none
SELECT
  cut_texts.key,
  map_from_entries(list((cut_texts.name, whole_prefixes.prefix))) AS attributes
FROM cut_texts
INNER JOIN whole_prefixes USING (text)
WHERE whole_prefixes.prefix IS NOT NULL
GROUP BY cut_texts.key;
