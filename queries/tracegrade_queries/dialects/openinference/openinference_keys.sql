-- Which attributes of a shape tell what of which message: their names, taken apart.
--
-- Spans of one shape have the same names; `place` is where one stands among them.
--
-- Reads:
--   shapes
-- Order:
--   none
CREATE OR REPLACE TEMP TABLE openinference_keys AS
WITH names AS (
  SELECT
    shape,
    unnest(names) AS name,
    generate_subscripts(names, 1) AS place
  FROM shapes
),

-- llm . input_messages . N . message . tool_calls . K . tool_call . function . name
paths AS (
  SELECT
    shape,
    place,
    string_split(name, '.') AS path
  FROM names
  WHERE starts_with(name, 'llm.input_messages.') OR starts_with(name, 'llm.output_messages.')
)

SELECT
  shape,
  place,
  CASE path[2] WHEN 'input_messages' THEN 'in' ELSE 'out' END AS direction,
  -- A larger number is no index, and would not fit where it is multiplied.
  try_cast(path[3] AS INTEGER)::BIGINT AS message_position,
  path[5] AS field,
  try_cast(path[6] AS INTEGER)::BIGINT AS item,
  path[-1] AS leaf
FROM paths;
