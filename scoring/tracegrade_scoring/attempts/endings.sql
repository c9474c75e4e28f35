-- Attempts that did not end by themselves: their missing decisions are not the agent's choice.
--
-- Source: docs/metrics.md, section 3.4.
--
-- Reads:
--   trajectories
-- Columns:
--   trajectory_id  INTEGER  One row for each trajectory that was cut off.
--   ending         VARCHAR  interrupted (it waits for somebody) | budget (of output, turns,
--                           time) | crashed (root in error, or it or its end absent).
-- Order:
--   trajectory_id
WITH found AS (
  SELECT
    trajectory_id,
    CASE
      WHEN interrupted THEN 'interrupted'
      -- Vendors' words for a limit that was reached are often passed on as they are.
      WHEN
        regexp_matches(
          lower(finish_reasons),
          'length|max([a-z]*|[_ -][a-z]+)[_ -]?(tokens|turns|steps|iterations)'
          || '|(token|turn|step|iteration|time)s?[_ -]?limit|time.?out|context_window_exceeded'
        )
        THEN 'budget'
      WHEN NOT complete OR root_failed THEN 'crashed'
    END AS ending
  FROM trajectories
)

SELECT
  trajectory_id,
  ending
FROM found
WHERE ending IS NOT NULL
ORDER BY trajectory_id;
