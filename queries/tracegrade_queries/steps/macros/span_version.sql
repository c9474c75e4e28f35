-- The order of a span's versions; the greatest value counts.
--
-- Completeness of the times counts first: a version with its end before one that ended at its
-- start, and that before one with only a start. Some writers export a span that has not ended in
-- the second form.
CREATE OR REPLACE TEMP MACRO span_version(START_NS, END_NS, RECEIVED_NS, WAL_SEQ, CONTENT_HASH) AS
create_sort_key(
  CASE
    WHEN coalesce(end_ns, 0) = 0 THEN 0
    WHEN end_ns <= coalesce(start_ns, 0) THEN 1
    ELSE 2
  END, 'ASC NULLS LAST',
  received_ns, 'ASC NULLS LAST',
  wal_seq, 'ASC NULLS LAST',
  coalesce(end_ns, 0), 'ASC NULLS LAST',
  content_hash, 'ASC NULLS LAST'
);
