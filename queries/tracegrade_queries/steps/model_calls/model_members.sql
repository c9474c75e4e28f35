-- The model call that each model span records.
--
-- Reads:
--   model_groups
--   model_twin_ends
-- Columns:
--   key         BIGINT  Model span; one row each.
--   model_call  BIGINT  Key of the span that represents the call: the earliest outermost one.
-- Order:
--   none
SELECT
  unnest(model_groups.members) AS key,
  coalesce(model_twin_ends.last, model_groups.key) AS model_call
FROM model_groups
LEFT JOIN model_twin_ends USING (key);
