-- The candidates of an ambiguous call that the verdicts of one rank leave, in their order.
--
-- yes, no: the sub-goals that these verdicts name; NULL counts as none. Left are those that they
-- say yes to, if any; else all but those that they say no to; all, if none would be left.
-- Source: docs/metrics.md, section 4.2.
CREATE OR REPLACE TEMP MACRO remaining(CANDIDATES, YES, NO) AS
CASE
  WHEN list_has_any(candidates, coalesce(yes, []))
    THEN list_filter(candidates, LAMBDA each: list_contains(yes, each))
  WHEN list_has_all(coalesce(no, []), candidates) THEN candidates
  ELSE list_filter(candidates, LAMBDA each: NOT list_contains(coalesce(no, []), each))
END;
