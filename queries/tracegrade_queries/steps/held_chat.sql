-- Messages that the whole input or output of a model call holds, as chat_parts takes them.
--
-- The named relation has key, direction (in | out) and text: a chat in JSON (a list of messages or
-- of texts, an object that is one message or that holds a list of them), else what the user or the
-- model said.
CREATE OR REPLACE TEMP MACRO held_chat(RELATION) AS TABLE
  WITH held AS (
    SELECT
      key,
      direction,
      text,
      if(direction = 'in', 'user', 'assistant') AS role,
      try_cast(text AS JSON) AS whole
    FROM query_table(relation)
    WHERE text IS NOT NULL
  ),

  lists AS (
    SELECT
      *,
      CASE
        WHEN json_type(whole, '$.messages') = 'ARRAY' THEN whole -> '$.messages'
        WHEN json_type(whole, '$.choices') = 'ARRAY' THEN whole -> '$.choices'
        -- The blocks of one message.
        WHEN json_exists(whole, '$[0].type') AND NOT json_exists(whole, '$[0].content')
          THEN json_array(json_object('content', whole))
        WHEN json_type(whole) = 'ARRAY' THEN whole
        WHEN
          json_type(whole) = 'OBJECT'
          AND list_has_any(
            json_keys(whole), ['content', 'message', 'parts', 'role', 'tool_calls', 'type']
          )
          THEN json_array(whole)
      END AS items
    FROM held
  ),

  messages AS (
    SELECT
      key,
      direction,
      role,
      generate_subscripts(cast(items AS JSON[]), 1) AS message_position,
      unnest(cast(items AS JSON[])) AS item
    FROM lists
    WHERE items IS NOT NULL
  )

  -- A choice holds the message.
  SELECT
    key,
    direction,
    message_position,
    json_merge_patch(
      json_object('role', role),
      if(
        json_type(item) = 'VARCHAR',
        json_object('content', item),
        coalesce(item -> '$.message', item)
      )
    ) AS message
  FROM messages
  WHERE json_type(item) IN ('OBJECT', 'VARCHAR')
  UNION ALL
  SELECT
    key,
    direction,
    1 AS message_position,
    json_object('role', role, 'content', result_text(text)) AS message
  FROM lists
  WHERE items IS NULL;
