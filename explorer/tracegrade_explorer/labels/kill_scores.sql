-- Scores that people and others gave one kill.
--
-- Reads:
--   counted_verdicts
-- Parameters:
--   $trajectory_id  VARCHAR  The run that the kill repeats.
--   $kill_point     VARCHAR  early | mid | late.
-- Columns:
--   source    VARCHAR  Who scored it, a person as human:NAME.
--   value     DOUBLE   0 to 10; NULL without a score.
--   label     VARCHAR  NULL for none.
--   evidence  VARCHAR  A note, or a JSON object with a `reason`; NULL if none.
-- Order:
--   people first, source
SELECT
  source,
  value,
  label,
  CASE WHEN json_valid(evidence) THEN evidence ->> '$.reason' ELSE evidence END AS evidence
FROM counted_verdicts
WHERE
  subject = 'rollback'
  AND trajectory_id = $trajectory_id
  AND kill_point = $kill_point
ORDER BY starts_with(source, 'human:') DESC, source ASC;
