-- Each distinct plan that attempts declared.
--
-- Reads:
--   plans
-- As:
--   view
-- Columns:
--   plan_key    VARCHAR  One row each.
--   plan        VARCHAR  Its text.
--   has_others  BOOLEAN  An attempt that declared it declared more than one.
-- Order:
--   plan_key
WITH changed AS (
  SELECT DISTINCT attempt_id
  FROM plans
  WHERE plan_index > 0
)

SELECT
  plans.plan_key,
  any_value(plans.plan) AS plan,
  bool_or(changed.attempt_id IS NOT NULL) AS has_others
FROM plans
LEFT JOIN changed ON plans.attempt_id = changed.attempt_id
WHERE plans.plan IS NOT NULL
GROUP BY plans.plan_key
ORDER BY plans.plan_key;
