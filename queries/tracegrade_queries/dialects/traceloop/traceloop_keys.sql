-- Which attributes of a shape tell what of which message: their names, taken apart.
--
-- Spans of one shape have the same names; `place` is where one stands among them.
--
-- Reads:
--   shapes
-- Order:
--   none
CREATE OR REPLACE TEMP TABLE traceloop_keys AS
WITH names AS (
  SELECT
    shape,
    unnest(names) AS name,
    generate_subscripts(names, 1) AS place
  FROM shapes
),

-- gen_ai . prompt . N . tool_calls . K . name
paths AS (
  SELECT
    shape,
    place,
    string_split(name, '.') AS path
  FROM names
  WHERE regexp_matches(name, '^gen_ai\.(prompt|completion)\.\d+\.')
)

SELECT
  shape,
  place,
  CASE path[2] WHEN 'prompt' THEN 'in' ELSE 'out' END AS direction,
  -- A larger number is no index, and would not fit where it is multiplied.
  try_cast(path[3] AS INTEGER)::BIGINT AS message_position,
  path[4] AS field,
  try_cast(path[5] AS INTEGER)::BIGINT AS item,
  path[-1] AS leaf
FROM paths;
