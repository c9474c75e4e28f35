-- Spans of the traces of this bucket, as dialects read them; each dialect reads its own of these.
--
-- The rest of a cut attribute replaces it, and the span has a flag for it.
--
-- Reads:
--   salvaged_texts
--   span_rows
-- Takes:
--   mended_spans
-- Needs:
--   salvaged_texts
-- Order:
--   none
UPDATE span_rows SET
  attributes = map_concat(span_rows.attributes, salvaged_texts.attributes),
  marks = coalesce(span_rows.marks, []) || ['salvaged']
FROM salvaged_texts
WHERE span_rows.key = salvaged_texts.key;
