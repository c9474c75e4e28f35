-- Which of several versions of a span counts: that with the greatest value.
--
-- Before all else counts how much its times tell: when it ended, more than that it ended as it
-- began (so some write a span that is under way), more than that it began.
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
