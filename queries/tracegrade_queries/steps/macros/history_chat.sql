-- Whether a message names its role as LangChain does, in `type`.
CREATE OR REPLACE TEMP MACRO names_role(MESSAGE) AS
coalesce(
  message ->> '$.role' IS NULL
  AND message ->> '$.type' IN ('ai', 'function', 'human', 'system', 'tool'),
  FALSE
);

-- Whether a list holds items of OpenAI's Responses: calls, messages and reasoning on one level.
-- Blocks of a message have no such types, except LangChain's, which include texts.
CREATE OR REPLACE TEMP MACRO are_items(BLOCKS) AS
coalesce(
  len(
    list_filter(
      blocks ->> '$[*].type',
      LAMBDA type: regexp_matches(
        type,
        '^((function|custom_tool|computer|local_shell|shell|apply_patch|web_search|file_search'
        '|code_interpreter|image_generation|mcp|tool_search)_call(_output)?'
        '|mcp_approval_request|message)$'
      )
    )
  ) > 0
  AND NOT list_contains(blocks ->> '$[*].type', 'text'),
  FALSE
);

-- A message of Google's answer, with that answer's data about the tools that Google ran.
CREATE OR REPLACE TEMP MACRO with_grounding(MESSAGE, ANSWER) AS
CASE
  WHEN tells_grounding(cast(answer AS VARCHAR))
    THEN json_merge_patch(
      message,
      json_object(
        'grounding_metadata', coalesce(
          json_extract(answer, '$.grounding_metadata'), json_extract(answer, '$.groundingMetadata')
        ),
        'url_context_metadata', coalesce(
          json_extract(answer, '$.url_context_metadata'),
          json_extract(answer, '$.urlContextMetadata')
        )
      )
    )
  ELSE message
END;

-- Items of a whole answer of OpenAI's Responses, or messages of Google's answer; otherwise NULL.
CREATE OR REPLACE TEMP MACRO answered_items(ANSWER) AS
CASE
  WHEN
    json_type(answer, '$.output') = 'ARRAY'
    AND (answer ->> '$.object' = 'response' OR are_items(json_extract(answer, '$.output')))
    THEN answer -> '$.output'
  WHEN json_type(answer, '$.candidates[0].content') = 'OBJECT'
    THEN to_json(
      list_transform(
        json_extract(answer, '$.candidates[*]'),
        LAMBDA candidate: with_grounding(json_extract(candidate, '$.content'), candidate)
      )
    )
END;

-- The items of a request to a model, in the form of OpenAI's Responses or of Google.
CREATE OR REPLACE TEMP MACRO requested_items(REQUEST) AS
CASE
  WHEN NOT coalesce(list_has_any(json_keys(request), ['model', 'instructions', 'tools']), FALSE)
    THEN NULL
  WHEN json_type(request, '$.input') = 'ARRAY' THEN request -> '$.input'
  WHEN json_type(request, '$.input') = 'VARCHAR' THEN json_array(json_extract(request, '$.input'))
  WHEN json_type(request, '$.contents') = 'ARRAY' THEN request -> '$.contents'
  WHEN json_type(request, '$.contents') = 'VARCHAR'
    THEN json_array(json_extract(request, '$.contents'))
END;

-- Messages that the whole input or output of a model call holds, as chat_parts takes them.
--
-- The named relation has key, direction (in | out), position (order among the rows of one key),
-- role (for messages without one) and text. The text is a chat in JSON, or else a plain text. A
-- chat is a list of messages or texts, or an object that is one message or holds a list of them.
-- It may also be a whole request or answer of OpenAI's Responses or of Google's. Blocks of a
-- message are in `content`, or in `parts` as Google and the GenAI conventions write them.
CREATE OR REPLACE TEMP MACRO history_chat(RELATION) AS TABLE
  WITH chats AS (
    SELECT
      key,
      direction,
      position,
      role,
      text,
      try_cast(text AS JSON) AS content
    FROM query_table(relation)
    WHERE text IS NOT NULL
  ),

  lists AS (
    SELECT
      *,
      CASE
        WHEN json_type(content, '$.messages') = 'ARRAY' THEN content -> '$.messages'
        WHEN json_type(content, '$.choices') = 'ARRAY' THEN content -> '$.choices'
        -- The blocks of one message.
        WHEN
          json_exists(content, '$[0].type')
          AND NOT json_exists(content, '$[0].content')
          AND NOT are_items(content)
          THEN json_array(json_object('content', content))
        WHEN json_type(content) = 'ARRAY' THEN content
        WHEN
          json_type(content) = 'OBJECT'
          AND list_has_any(
            json_keys(content), ['content', 'message', 'parts', 'role', 'tool_calls', 'type']
          )
          THEN json_array(content)
        WHEN json_type(content) = 'OBJECT'
          THEN if(direction = 'out', answered_items(content), requested_items(content))
      END AS items
    FROM chats
  ),

  items AS (
    SELECT
      key,
      direction,
      position,
      role,
      generate_subscripts(cast(items AS JSON[]), 1) AS item_position,
      unnest(cast(items AS JSON[])) AS item
    FROM lists
    WHERE items IS NOT NULL
  ),

  chat_texts AS MATERIALIZED (
    SELECT
      key,
      direction,
      position_gap() * position + item_position AS message_position,
      role,
      cast(item AS VARCHAR) AS text
    FROM items
    WHERE json_type(item) IN ('OBJECT', 'VARCHAR')
  ),

  -- Calls of a model repeat earlier messages: each message is read once.
  distinct_texts AS (
    SELECT DISTINCT
      role,
      text
    FROM chat_texts
  ),

  messages AS (
    SELECT
      role,
      text,
      cast(text AS JSON) AS item,
      CASE
        WHEN json_type(item) = 'VARCHAR' THEN json_object('content', item)
        -- A choice holds the message.
        ELSE coalesce(item -> '$.message', item)
      END AS message
    FROM distinct_texts
  ),

  read_messages AS (
    SELECT
      role,
      text,
      CASE
        WHEN json_type(message, '$.parts') = 'ARRAY'
          THEN with_grounding(
            json_object(
              -- The parts of a tool's message are not text.
              'role', regexp_replace(
                coalesce(message ->> '$.role', role), '^(tool|function)$', 'user'
              ),
              'content', list_transform(
                cast(message -> '$.parts' AS JSON[]), LAMBDA part: genai_block(part)
              )
            ),
            message
          )
        WHEN
          message ->> '$.role' IS NOT NULL
          OR names_role(message)
          OR cast(message AS VARCHAR) = '{}'
          THEN message
        -- Inserted as text: arguments may hold nulls, which a merge would remove.
        ELSE cast(
          rtrim(cast(json_object('role', role) AS VARCHAR), '}')
          || ','
          || substr(cast(message AS VARCHAR), 2)
          AS JSON
        )
      END AS message
    FROM messages
  )

  SELECT
    chat_texts.key,
    chat_texts.direction,
    chat_texts.message_position,
    read_messages.message
  FROM chat_texts
  INNER JOIN read_messages
    ON
      chat_texts.text = read_messages.text
      AND chat_texts.role IS NOT DISTINCT FROM read_messages.role
  UNION ALL
  SELECT
    key,
    direction,
    position_gap() * position AS message_position,
    json_object('role', role, 'content', result_text(text)) AS message
  FROM lists
  WHERE items IS NULL;
