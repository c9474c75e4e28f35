-- The attributes of a shape, with the message and the field that each holds: their names, split.
--
-- The named relation has shape and names: spans of one shape have the same names, and `position`
-- is that of a name among them. Names match the pattern and look like
-- `gen_ai.prompt.N.tool_calls.K.name`. The second word names inputs or outputs, the third the
-- message. `field_at` is the position of the word for the field, which an item may follow.
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
    -- A larger number is not an index, and its multiple would overflow.
    try_cast(path[3] AS INTEGER)::BIGINT AS message_position,
    path[field_at] AS field,
    try_cast(path[field_at + 1] AS INTEGER)::BIGINT AS item,
    path[-1] AS leaf
  FROM paths;
