-- Differences between the arguments of a decision point and the arguments that its task expects.
--
-- Objects and lists are compared value by value. At most 50 differences are listed, each up to 500
-- characters. Source: docs/metrics.md, section 1.3.
--
-- Reads:
--   decision_points
--   differing_values
--   calls_fitting_expected
-- Needs:
--   calls_fitting_expected WHERE NOT arguments_fit
-- Columns:
--   attempt_id       INTEGER  The root trajectory.
--   call_index       INTEGER  The first call of the decision point.
--   position         INTEGER  The expectation; one row for each of the three.
--   wrong_arguments  STRUCT(argument VARCHAR, sent VARCHAR, expected VARCHAR)[]  By JSON path of
--                             each value; JSON, NULL where there is none on that side.
-- Order:
--   none
WITH differences AS (
  SELECT
    calls_fitting_expected.attempt_id,
    calls_fitting_expected.call_index,
    calls_fitting_expected.position,
    unnest(calls_fitting_expected.differences) AS difference
  FROM calls_fitting_expected
  SEMI JOIN decision_points USING (attempt_id, call_index, position)
  WHERE NOT calls_fitting_expected.arguments_fit
),

located AS (
  SELECT
    attempt_id,
    call_index,
    position,
    difference.sent,
    difference.expected,
    difference.is_value,
    CASE
      WHEN regexp_matches(difference['key'], '^\$[.\[]') THEN difference['key']
      WHEN regexp_full_match(difference['key'], '[A-Za-z_]\w*') THEN '$.' || difference['key']
      ELSE '$.' || to_json(difference['key'])
    END AS path
  FROM differences
),

listed AS (
  SELECT
    located.attempt_id,
    located.call_index,
    located.position,
    located.path,
    unnest(
      coalesce(
        differing_values.leaves,
        [{ 'path': '', 'sent': located.sent, 'expected': located.expected }]
      )
    ) AS leaf
  FROM located
  LEFT JOIN differing_values
    ON
      located.is_value
      AND located.sent = differing_values.sent
      AND located.expected = differing_values.expected
),

placed AS (
  SELECT
    attempt_id,
    call_index,
    position,
    path || leaf.path AS argument,
    left(leaf.sent, 500) AS sent,
    left(leaf.expected, 500) AS expected
  FROM listed
)

SELECT
  attempt_id,
  call_index,
  position,
  list({ 'argument': argument, 'sent': sent, 'expected': expected } ORDER BY argument)[:50]
    AS wrong_arguments
FROM placed
GROUP BY attempt_id, call_index, position;
