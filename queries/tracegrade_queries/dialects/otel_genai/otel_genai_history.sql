-- Inputs of model calls that repeat an earlier input and extend it, as lists of the new messages.
--
-- Lists of a trace with the same beginning are compared in the order of their lengths. If a list
-- begins with all messages of the one before, only the messages after them are new. This continues
-- along the chain, so that no message is read again with each call. All other lists are read
-- whole.
--
-- Reads:
--   otel_genai_lists
-- Needs:
--   otel_genai_lists WHERE has_parts AND direction = 'in' AND size > compared_chars()
-- Columns:
--   key        BIGINT   Span whose input extends an earlier one.
--   first_key  BIGINT   Span whose input is the first of the chain.
--   position   BIGINT   Position in the chain, from 1 for the shortest list with this beginning.
--   rest       VARCHAR  The list of its new messages.
-- Order:
--   none
WITH inputs AS (
  SELECT
    key,
    trace_id,
    coalesce(scope_name, '') AS scope_name,
    size,
    opening
  FROM otel_genai_lists
  WHERE
    has_parts
    AND direction = 'in'
    AND size > compared_chars()
    AND opening IS NOT NULL
    -- Made-up ids depend on the whole list.
    AND coalesce(scope_name, '')
    NOT IN ('gcp.vertex.agent', 'opentelemetry.instrumentation.google_genai')
),

ordered AS (
  SELECT
    key,
    trace_id,
    scope_name,
    opening,
    size,
    row_number() OVER growing AS position,
    lag(key) OVER growing AS earlier,
    lag(size) OVER growing AS earlier_size
  FROM inputs
  WINDOW growing AS (PARTITION BY trace_id, scope_name, opening ORDER BY size, key)
),

-- The earlier messages end before the bracket of their list.
compared AS MATERIALIZED (
  SELECT
    ordered.key,
    CASE
      WHEN ordered.size = ordered.earlier_size AND lists.messages = earlier.messages THEN '[]'
      WHEN
        substring(lists.messages, ordered.earlier_size, 1) = ','
        AND starts_with(lists.messages, substring(earlier.messages, 1, ordered.earlier_size - 1))
        THEN '[' || substring(lists.messages, ordered.earlier_size + 1)
    END AS rest
  FROM otel_genai_lists AS lists
  INNER JOIN ordered ON lists.key = ordered.key
  INNER JOIN otel_genai_lists AS earlier ON ordered.earlier = earlier.key
  WHERE lists.direction = 'in' AND earlier.direction = 'in'
),

going_on AS (
  SELECT
    key,
    rest
  FROM compared
  WHERE json_valid(rest) AND NOT in_pieces(rest)
),

chained AS (
  SELECT
    ordered.key,
    ordered.position,
    going_on.rest,
    last_value(CASE WHEN going_on.key IS NULL THEN ordered.key END IGNORE NULLS) OVER (
      PARTITION BY ordered.trace_id, ordered.scope_name, ordered.opening
      ORDER BY ordered.position
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS first_key
  FROM ordered
  LEFT JOIN going_on USING (key)
),

-- An aggregate, so that the condition is not evaluated for other lists.
firsts AS (
  SELECT key
  FROM otel_genai_lists
  WHERE
    direction = 'in' AND key IN (
      SELECT chained.first_key FROM chained
      WHERE chained.rest IS NOT NULL
    )
  GROUP BY key
  HAVING bool_and(json_valid(messages) AND NOT in_pieces(messages))
)

SELECT
  chained.key,
  chained.first_key,
  chained.position,
  chained.rest
FROM chained
SEMI JOIN firsts ON chained.first_key = firsts.key
WHERE chained.rest IS NOT NULL;
