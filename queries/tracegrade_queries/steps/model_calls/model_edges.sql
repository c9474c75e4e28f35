-- Model spans that repeat the one around them: one call, seen by an outer and an inner layer.
--
-- A model span with several calls below it contains calls but is not one; no edge leads to it.
-- Several spans with one response id are one call. So are a request and its tries, as a gateway
-- writes them: what was said is on the outer span alone, and at most one try has tokens. If the
-- outer span is another instrumentation's, several requests may have overwritten its attributes.
--
-- Reads:
--   dialect_messages
--   known_parents
--   operations
--   response_ids
-- Needs:
--   known_parents WHERE operation = 'model' AND parent_operation = 'model'
-- Ends:
--   model_ends
-- Columns:
--   key   BIGINT  The inner span; one row each.
--   next  BIGINT  The outer span.
-- Order:
--   none
WITH inner_spans AS (
  SELECT
    known_parents.key,
    known_parents.parent,
    coalesce(response_ids.response_id, known_parents.key::VARCHAR) AS response
  FROM known_parents
  LEFT JOIN response_ids USING (key)
  WHERE known_parents.operation = 'model' AND known_parents.parent_operation = 'model'
),

around_several AS (
  SELECT parent
  FROM inner_spans
  GROUP BY parent
  HAVING min(response) < max(response)
),

recorded AS (
  SELECT DISTINCT key
  FROM dialect_messages
  WHERE key IN (
    SELECT unnest([inner_spans.key, inner_spans.parent])
    FROM inner_spans
    SEMI JOIN around_several USING (parent)
  )
),

requests_with_tries AS (
  SELECT inner_spans.parent
  FROM inner_spans
  SEMI JOIN around_several USING (parent)
  INNER JOIN operations AS tries USING (key)
  INNER JOIN operations AS requests ON inner_spans.parent = requests.key
  LEFT JOIN recorded USING (key)
  LEFT JOIN recorded AS said ON inner_spans.parent = said.key
  GROUP BY inner_spans.parent
  HAVING
    count(recorded.key) = 0
    AND count(tries.output_tokens) <= 1
    AND bool_and(tries.scope_name = requests.scope_name)
    AND (
      count(requests.output_tokens) > 0
      OR bool_or(said.key IS NOT NULL)
    )
)

SELECT
  key,
  parent AS next
FROM inner_spans
WHERE
  parent NOT IN (SELECT around_several.parent FROM around_several)
  OR parent IN (SELECT requests_with_tries.parent FROM requests_with_tries);
