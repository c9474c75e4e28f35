-- Items of OpenAI's Responses that the client runs as it runs functions.
CREATE OR REPLACE TEMP MACRO is_shell(TYPE) AS
coalesce(type IN ('apply_patch_call', 'local_shell_call', 'shell_call'), FALSE);

-- The parts of chat messages as model providers and LangChain write them.
--
-- The named relation has key, direction, message_position and message (JSON). A message is an item
-- of OpenAI's Responses, or an object with `role` (LangChain: `type`) and `content` (text, or a
-- list of blocks as in block_part). It may have `tool_calls` (OpenAI's or LangChain's),
-- `reasoning_content`, the fields that hosted_in_metadata reads, and for a tool's message the id
-- of its call. The columns of the result are those of dialect messages. Calls of a model repeat
-- earlier messages: each message is read once.
CREATE OR REPLACE TEMP MACRO chat_parts(RELATION) AS TABLE
  WITH distinct_parts AS MATERIALIZED (
    SELECT
      key,
      direction,
      message_position,
      message::VARCHAR AS text
    FROM query_table(relation)
    WHERE message IS NOT NULL
  ),

  distinct_texts AS (
    SELECT DISTINCT text
    FROM distinct_parts
  ),

  items AS (
    SELECT
      text,
      text::JSON AS typed_message,
      typed_message ->> '$.type' AS type,
      CASE
        WHEN type IN ('function_call', 'custom_tool_call', 'computer_call') OR is_shell(type)
          THEN
            json_object(
              'role', 'assistant',
              'tool_calls', json_array(json_object(
                'id', typed_message ->> '$.call_id',
                'name', coalesce(typed_message ->> '$.name', regexp_replace(type, '_call$', '')),
                'arguments', coalesce(
                  typed_message ->> '$.arguments',
                  typed_message ->> '$.action',
                  typed_message ->> '$.operation',
                  if(
                    type = 'custom_tool_call',
                    json_object('input', typed_message ->> '$.input')::VARCHAR,
                    NULL
                  )
                )
              ))
            )
        WHEN
          type IN ('function_call_output', 'custom_tool_call_output', 'computer_call_output')
          OR is_shell(replace(type, '_output', ''))
          THEN
            json_object(
              'role', 'tool',
              'tool_call_id', typed_message ->> '$.call_id',
              'content', typed_message ->> '$.output',
              'is_error', typed_message -> '$.is_error'
            )
        WHEN regexp_matches(type, hosted_types())
          THEN json_object('role', 'assistant', 'content', json_array(typed_message))
        WHEN type = 'reasoning'
          THEN
            json_object(
              'role', 'assistant',
              'reasoning',
              nullif(array_to_string(typed_message ->> '$.summary[*].text', chr(10)), '')
            )
        ELSE typed_message
      END AS message
    FROM distinct_texts
  ),

  messages AS (
    SELECT
      text,
      CASE coalesce(message ->> '$.role', type)
        WHEN 'ai' THEN 'assistant'
        WHEN 'function' THEN 'tool'
        WHEN 'human' THEN 'user'
        WHEN 'model' THEN 'assistant'
        ELSE coalesce(message ->> '$.role', type)
      END AS role,
      message,
      json_type(message, '$.content') AS content_type,
      -- A tool's message is one result; for Vercel's AI SDK, Bedrock and Genkit it is a list.
      json_exists(message, '$.content[0].toolCallId')
      OR json_exists(message, '$.content[0].toolResult')
      OR json_exists(message, '$.content[0].toolResponse') AS is_blocks
    FROM items
  ),

  thoughts AS (
    SELECT
      * EXCLUDE (message, content_type, is_blocks),
      0 AS part_position,
      {
        'part_type': 'reasoning',
        'text': coalesce(
          message ->> '$.reasoning_content',
          message ->> '$.additional_kwargs.reasoning_content',
          message ->> '$.reasoning'
        )
      } AS part
    FROM messages
    WHERE
      coalesce(
        json_type(message, '$.reasoning_content'),
        json_type(message, '$.additional_kwargs.reasoning_content'),
        json_type(message, '$.reasoning')
      ) = 'VARCHAR'
  ),

  texts AS (
    SELECT
      * EXCLUDE (message, content_type, is_blocks),
      1 AS part_position,
      { 'part_type': 'text', 'text': message ->> '$.content' } AS part
    FROM messages
    WHERE role <> 'tool' AND content_type = 'VARCHAR' AND message ->> '$.content' <> ''
  ),

  results AS (
    SELECT
      * EXCLUDE (message, content_type, is_blocks),
      1 AS part_position,
      {
        'part_type': 'tool_call_response',
        'call_id': coalesce(message ->> '$.tool_call_id', message ->> '$.id'),
        'tool_name': message ->> '$.name',
        'result': message ->> '$.content',
        'failed': coalesce(message ->> '$.status' = 'error', FALSE)
        OR 'true' IN (
          message ->> '$.is_error', message ->> '$.isError', message ->> '$.error'
        )
        OR coalesce(is_marked_failed(message ->> '$.content'), FALSE)
      } AS part
    FROM messages
    WHERE role = 'tool' AND content_type IS NOT NULL AND NOT is_blocks
  ),

  blocks AS (
    SELECT
      * EXCLUDE (message, content_type, is_blocks),
      1 + generate_subscripts((message -> '$.content')::JSON[], 1) AS part_position,
      unnest((message -> '$.content')::JSON[]) AS block
    FROM messages
    WHERE content_type = 'ARRAY' AND (role <> 'tool' OR is_blocks)
  ),

  hosted AS (
    SELECT
      * EXCLUDE (message, content_type, is_blocks),
      hosted_in_metadata(message) AS hosted_blocks
    FROM messages
    WHERE role = 'assistant' AND mentions_hosted_metadata(text)
  ),

  all_blocks AS (
    SELECT * FROM blocks
    UNION ALL BY NAME
    SELECT
      * EXCLUDE (hosted_blocks),
      generate_subscripts(hosted_blocks, 1) - position_gap() AS part_position,
      unnest(hosted_blocks) AS block
    FROM hosted
  ),

  requests AS (
    SELECT
      * EXCLUDE (message, content_type, is_blocks),
      position_gap()
      + generate_subscripts((message -> '$.tool_calls')::JSON[], 1) AS part_position,
      unnest((message -> '$.tool_calls')::JSON[]) AS request
    FROM messages
    WHERE json_type(message, '$.tool_calls') = 'ARRAY'
  ),

  parts AS (
    SELECT * FROM thoughts
    UNION ALL BY NAME
    SELECT * FROM texts
    UNION ALL BY NAME
    SELECT * FROM results
    UNION ALL BY NAME
    SELECT
      * EXCLUDE (block),
      if(is_hosted(block), hosted_part(block), block_part(block)) AS part
    FROM all_blocks
    UNION ALL BY NAME
    SELECT
      * EXCLUDE (request),
      {
        'part_type': if(
          request ->> '$.providerExecuted' = 'true', 'server_tool_call', 'tool_call'
        ),
        'call_id': coalesce(request ->> '$.id', request ->> '$.toolCallId'),
        'tool_name': coalesce(
          request ->> '$.function.name', request ->> '$.name', request ->> '$.toolName'
        ),
        'arguments': coalesce(
          request ->> '$.function.arguments',
          request ->> '$.args',
          request ->> '$.arguments',
          request ->> '$.input',
          stated_nothing(request)
        )
      } AS part
    FROM requests
  ),

  read_parts AS (
    SELECT
      text AS message_text,
      part_position,
      role,
      part.part_type,
      part.text,
      part.tool_name,
      part.call_id,
      part.arguments,
      result_text(part.result) AS result,
      part.failed
    FROM parts
    WHERE part.part_type IS NOT NULL
  )

  SELECT
    distinct_parts.key,
    distinct_parts.direction,
    distinct_parts.message_position,
    read_parts.part_position,
    read_parts.role,
    read_parts.part_type,
    read_parts.text,
    read_parts.tool_name,
    read_parts.call_id,
    read_parts.arguments,
    read_parts.result,
    read_parts.failed
  FROM distinct_parts
  INNER JOIN read_parts ON distinct_parts.text = read_parts.message_text;
