-- Spans that a dialect recognizes, with an operation for searches and for memory.
--
-- The columns are those of found_operations; the operation of these is `retrieval`. A trace that
-- holds nothing else makes no run.
--
-- Reads:
--   retrieval_spans
-- Takes:
--   rooted_operations
-- Needs:
--   retrieval_spans
-- Order:
--   none
UPDATE retrieving_operations
SET operation = 'retrieval'
WHERE
  operation = 'other'
  AND key IN (SELECT retrieval_spans.key FROM retrieval_spans)
  AND trace_id IN (
    SELECT others.trace_id FROM retrieving_operations AS others
    WHERE others.operation <> 'other'
  );
