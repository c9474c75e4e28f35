-- The issues of each attempt, the most telling first, in ten places.
--
-- A place of an attempt has the same key after it was scored again, so that the issue that is
-- there now replaces the one that was sent before. A place without an issue is sent only if the
-- destination has one there. Muted issues are left out. Source: docs/guides/send.md.
--
-- Reads:
--   attempts_to_send
--   issue_attempts
-- Parameters:
--   $muted       VARCHAR[]  Keys of the issues that people muted.
--   $empty_ones  BOOLEAN    TRUE: places without an issue as well, which only a destination that
--                           has scores may have to hear of.
-- Columns:
--   trajectory_id  VARCHAR  The attempt.
--   place          BIGINT   From 1 to 10; one row for each of the two.
--   issue          VARCHAR  Key of the issue; NULL if the place has none.
--   issue_kind     VARCHAR  Kind of its reason; NULL if the place has none.
--   issue_object   VARCHAR  Object of its reason; NULL if nothing in particular.
--   issue_step     INTEGER  Step that shows it; NULL without one.
--   sentence       VARCHAR  Description of the failure, which may quote the run.
-- Order:
--   trajectory_id, place
WITH placed AS (
  SELECT
    *,
    row_number() OVER (PARTITION BY trajectory_id ORDER BY rank_in_run, issue) AS place
  FROM issue_attempts
  WHERE NOT list_contains($muted::VARCHAR[], issue)  -- noqa: RF02
),

places AS (
  SELECT
    attempts_to_send.trajectory_id,
    numbers.place
  FROM attempts_to_send
  CROSS JOIN range(1, 11) AS numbers (place)
)

SELECT
  places.trajectory_id,
  places.place,
  placed.issue,
  placed.kind AS issue_kind,
  placed.object AS issue_object,
  placed.step_index AS issue_step,
  placed.sentence
FROM places
LEFT JOIN placed USING (trajectory_id, place)
WHERE $empty_ones::BOOLEAN OR placed.issue IS NOT NULL  -- noqa: RF02
ORDER BY places.trajectory_id, places.place;
