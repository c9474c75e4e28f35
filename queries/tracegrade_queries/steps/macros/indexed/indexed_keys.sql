-- Which attributes of a shape tell what of which message: their names, taken apart.
--
-- The named relation has shape and names: spans of one shape have the same ones, and `position` is
-- that of a name among them. Names fit the pattern and are such as
-- `gen_ai.prompt.N.tool_calls.K.name`: the second word is that of inputs or another, the third the
-- message; `field_at` says which word is the field, behind which an item may stand.
CREATE OR REPLACE TEMP MACRO indexed_keys(RELATION, PATTERN, INPUT_WORD, FIELD_AT) AS TABLE
  WITH every_name AS (
    SELECT
      shape,
      unnest(names) AS name,
      generate_subscripts(names, 1) AS position
    FROM query_table(relation)
  ),

  paths AS (
    SELECT
      shape,
      position,
      string_split(name, '.') AS path
    FROM every_name
    WHERE regexp_matches(name, pattern)
  )

  SELECT
    shape,
    position,
    if(path[2] = input_word, 'in', 'out') AS direction,
    -- A larger number is no index, and would not fit where it is multiplied.
    try_cast(path[3] AS INTEGER)::BIGINT AS message_position,
    path[field_at] AS field,
    try_cast(path[field_at + 1] AS INTEGER)::BIGINT AS item,
    path[-1] AS leaf
  FROM paths;
