-- Spans of the traces of this bucket, whose JSON contains no half characters.
--
-- Reads:
--   mended_texts
--   span_rows
-- Takes:
--   single_spans
-- Needs:
--   mended_texts
-- Order:
--   none
UPDATE span_rows SET
  attributes = map_concat(span_rows.attributes, mended_texts.attributes),
  marks = coalesce(span_rows.marks, []) || ['invalid_unicode']
FROM mended_texts
WHERE span_rows.key = mended_texts.key;
