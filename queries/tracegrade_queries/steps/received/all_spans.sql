-- Spans of the traces of this bucket, as dialects read them: each is shown its own of these.
--
-- What is left of a cut attribute takes its place, and its span says so.
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
WHERE span_rows.rowid = salvaged_texts.key;
