-- Model calls: all spans of one call are one row.
--
-- Counts are taken from the innermost spans, since outer ones repeat or sum them.
--
-- Reads:
--   operations
--   runs_of_operations
--   known_parents
--   model_members
-- Columns:
--   model_call         BIGINT   Key of the span that stands for it; one row each.
--   trajectory_id      VARCHAR
--   start_ns           BIGINT   Start of the first of its spans.
--   span_id            VARCHAR  Of the span that stands for it.
--   model              VARCHAR
--   input_tokens       BIGINT
--   output_tokens      BIGINT
--   cache_read_tokens  BIGINT
--   reasoning_tokens   BIGINT
--   offered_tools      VARCHAR  As sent.
--   below_plan         BOOLEAN  It is what a plan span did.
-- Order:
--   none
WITH outer_spans AS (
  SELECT DISTINCT parent AS key
  FROM known_parents
  WHERE operation = 'model' AND parent_operation = 'model'
),

members AS (
  SELECT
    model_members.model_call,
    operations.*,
    known_parents.parent_operation,
    create_sort_key(
      outer_spans.key IS NOT NULL,
      'ASC NULLS LAST',
      operations.start_ns,
      'ASC NULLS LAST',
      operations.span_id,
      'ASC NULLS LAST'
    ) AS inside_out
  FROM model_members
  INNER JOIN operations USING (key)
  INNER JOIN known_parents USING (key)
  LEFT JOIN outer_spans USING (key)
)

SELECT
  members.model_call,
  any_value(runs_of_operations.trajectory_id) AS trajectory_id,
  min(members.start_ns) AS start_ns,
  min(members.span_id) FILTER (WHERE members.key = members.model_call) AS span_id,
  arg_min(members.model, members.inside_out) AS model,
  arg_min(members.input_tokens, members.inside_out) AS input_tokens,
  arg_min(members.output_tokens, members.inside_out) AS output_tokens,
  arg_min(members.cache_read_tokens, members.inside_out) AS cache_read_tokens,
  arg_min(members.reasoning_tokens, members.inside_out) AS reasoning_tokens,
  arg_min(members.offered_tools, members.inside_out) AS offered_tools,
  coalesce(bool_or(members.parent_operation = 'plan' OR members.plan IS NOT NULL), FALSE)
    AS below_plan
FROM members
INNER JOIN runs_of_operations USING (key)
GROUP BY members.model_call;
