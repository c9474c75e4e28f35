-- The first steps of each of a date's runs whose texts contain a text, in any case.
--
-- Reads:
--   steps
-- Parameters:
--   $text       VARCHAR  The text to find; not empty.
--   $date       DATE     The date on which the traces were first received, UTC.
--   $after_run  VARCHAR  Begin behind this run; '' to begin with the first.
--   $of_run     BIGINT   Steps of one run at most.
--   $before     INTEGER  Characters of an excerpt before the match.
--   $length     INTEGER  Characters of an excerpt.
--   $rows       BIGINT   Steps at most.
-- Columns:
--   trajectory_id  VARCHAR  The run.
--   step_index     INTEGER  One row for each step.
--   kind           VARCHAR  As of steps.
--   tool_name      VARCHAR  NULL if it has none.
--   found_in       VARCHAR  arguments | result | content | plan | error_message; the first.
--   excerpt        VARCHAR  The text around its first match.
--   of             BIGINT   Number of steps of the run with a match, including those left out.
-- Order:
--   trajectory_id, step_index
WITH found AS (
  SELECT
    trajectory_id,
    step_index,
    kind,
    tool_name,
    CASE
      WHEN contains(lower(arguments), lower($text)) THEN { 'name': 'arguments', 'text': arguments }
      WHEN contains(lower(result), lower($text)) THEN { 'name': 'result', 'text': result }
      WHEN contains(lower(content), lower($text)) THEN { 'name': 'content', 'text': content }
      WHEN contains(lower(plan), lower($text)) THEN { 'name': 'plan', 'text': plan }
      WHEN contains(lower(error_message), lower($text))
        THEN { 'name': 'error_message', 'text': error_message }
    END AS hit
  FROM steps
  WHERE date = $date AND trajectory_id > $after_run
),

excerpts AS (
  SELECT
    trajectory_id,
    step_index,
    kind,
    tool_name,
    hit.name AS found_in,
    substring(
      hit.text, greatest(strpos(lower(hit.text), lower($text)) - $before, 1), $length
    ) AS excerpt
  FROM found
  WHERE hit IS NOT NULL
)

SELECT
  trajectory_id,
  step_index,
  kind,
  tool_name,
  found_in,
  excerpt,
  count(*) OVER (PARTITION BY trajectory_id) AS of
FROM excerpts
QUALIFY row_number() OVER (PARTITION BY trajectory_id ORDER BY step_index) <= $of_run
ORDER BY trajectory_id, step_index
LIMIT $rows;
