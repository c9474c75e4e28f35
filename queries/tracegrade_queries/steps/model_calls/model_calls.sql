-- Model calls: all spans of one call are one row.
--
-- Counts are taken from the innermost spans, since outer ones repeat or sum them, and from those
-- that did not fail, since a gateway may have tried another model before.
--
-- Reads:
--   operations
--   operation_runs
--   known_parents
--   model_members
-- Needs:
--   model_members
-- Columns:
--   model_call          BIGINT   Key of the span that represents it; one row each.
--   run                 BIGINT
--   start_ns            BIGINT   Start of the first of its spans.
--   span_id             VARCHAR  Id of the span that represents it.
--   model               VARCHAR
--   input_tokens        BIGINT
--   output_tokens       BIGINT
--   cache_read_tokens   BIGINT
--   reasoning_tokens    BIGINT
--   cache_write_tokens  BIGINT
--   ambiguous_tokens    BOOLEAN  Whether the input count includes cached tokens is not known.
--   stated_usd          DOUBLE   As the source says.
--   offered_tools       VARCHAR  As sent.
--   below_plan          BOOLEAN  It is what a plan span did.
--   outside_agent       BOOLEAN  It ran outside the agent's span.
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
    operation_runs.run,
    operation_runs.outside_agent,
    operations.*,
    coalesce(known_parents.parent_operation = 'plan' OR operations.plan IS NOT NULL, FALSE)
      AS below_plan
  FROM model_members
  INNER JOIN operations USING (key)
  INNER JOIN known_parents USING (key)
  INNER JOIN operation_runs USING (key)
),

shared AS (
  SELECT model_call
  FROM model_members
  GROUP BY model_call
  HAVING count(*) > 1
),

layers AS (
  SELECT
    members.*,
    create_sort_key(
      outer_spans.key IS NOT NULL,
      'ASC NULLS LAST',
      members.failed,
      'ASC NULLS LAST',
      members.start_ns,
      'ASC NULLS LAST',
      members.span_id,
      'ASC NULLS LAST'
    ) AS inside_out
  FROM members
  SEMI JOIN shared USING (model_call)
  LEFT JOIN outer_spans USING (key)
)

SELECT
  members.model_call,
  members.run,
  members.start_ns,
  members.span_id,
  members.model,
  members.input_tokens,
  members.output_tokens,
  members.cache_read_tokens,
  members.reasoning_tokens,
  members.cache_write_tokens,
  members.ambiguous_tokens,
  members.stated_usd,
  members.offered_tools,
  members.below_plan,
  members.outside_agent
FROM members
ANTI JOIN shared USING (model_call)
UNION ALL BY NAME
SELECT
  model_call,
  any_value(run) AS run,
  min(start_ns) AS start_ns,
  min(span_id) FILTER (WHERE key = model_call) AS span_id,
  arg_min(model, inside_out) AS model,
  arg_min(input_tokens, inside_out) AS input_tokens,
  arg_min(output_tokens, inside_out) AS output_tokens,
  arg_min(cache_read_tokens, inside_out) AS cache_read_tokens,
  arg_min(reasoning_tokens, inside_out) AS reasoning_tokens,
  arg_min(cache_write_tokens, inside_out) AS cache_write_tokens,
  coalesce(
    arg_min(ambiguous_tokens, inside_out) FILTER (WHERE input_tokens IS NOT NULL), FALSE
  ) AS ambiguous_tokens,
  arg_min(stated_usd, inside_out) AS stated_usd,
  arg_min(offered_tools, inside_out) AS offered_tools,
  bool_or(below_plan) AS below_plan,
  bool_and(outside_agent) AS outside_agent
FROM layers
GROUP BY model_call;
