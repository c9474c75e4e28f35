-- LangSmith's OpenTelemetry export: runs as spans, their inputs and outputs as JSON.
--
-- Rank:
--   40
-- Marks:
--   ^langsmith\.
-- Reads:
--   bucket_spans
-- Order:
--   none
CREATE OR REPLACE TEMP TABLE langsmith_chat AS
WITH runs AS (
  SELECT
    key,
    try_cast(attributes['gen_ai.prompt'] AS JSON) AS prompt,
    try_cast(attributes['gen_ai.completion'] AS JSON) AS completion
  FROM bucket_spans
  WHERE attributes['langsmith.span.kind'] IN ('llm', 'chain')
),

lists AS (
  SELECT
    key,
    'in' AS direction,
    -- The input of a chat model is a batch of conversations; the batch has one.
    CASE
      WHEN
        json_type(prompt, '$.messages[0]') = 'ARRAY' AND json_type(prompt, '$.messages[0][0]')
        = 'OBJECT' THEN prompt -> '$.messages[0]'
      ELSE prompt -> '$.messages'
    END AS messages
  FROM runs
  UNION ALL BY NAME
  SELECT
    key,
    'out' AS direction,
    coalesce(
      -- A wildcard without a match returns an empty list, not NULL.
      nullif(completion -> '$.generations[0][*].message', []),
      nullif(completion -> '$.choices[*].message', []),
      completion -> '$.messages',
      json_array(completion -> '$.message')
    ) AS messages
  FROM runs
),

readable AS (
  SELECT
    key,
    direction,
    try_cast(messages AS JSON[]) AS messages
  FROM lists
),

messages AS (
  SELECT
    key,
    direction,
    generate_subscripts(messages, 1) AS message_position,
    unnest(messages) AS message
  FROM readable
)

SELECT
  key,
  direction,
  message_position,
  CASE json_type(message)
    -- ["user", "text"], as people may write it.
    WHEN 'ARRAY' THEN json_object('role', message ->> 0, 'content', message ->> 1)
    ELSE coalesce(message -> '$.kwargs', message)
  END AS message
FROM messages
WHERE json_type(message) IN ('ARRAY', 'OBJECT');

CREATE OR REPLACE TEMP TABLE langsmith_messages AS
FROM chat_parts('langsmith_chat');

CREATE OR REPLACE TEMP VIEW langsmith_operations AS
WITH answers AS (
  SELECT
    key,
    arg_max(text, (message_position, part_position)) AS answer
  FROM langsmith_messages
  WHERE part_type = 'text' AND direction = 'out' AND role = 'assistant'
  GROUP BY key
),

user_texts AS (
  SELECT
    texts.key,
    texts.user_input,
    answers.answer
  FROM last_texts('langsmith_messages') AS texts
  LEFT JOIN answers ON texts.key = answers.key
),

runs AS (
  SELECT
    *,
    attributes['langsmith.span.kind'] AS kind,
    coalesce(
      attributes['langsmith.trace.name'] = attributes['langsmith.metadata.lc_agent_name'], FALSE
    ) AS is_agent,
    try_cast(attributes['gen_ai.prompt'] AS JSON) AS prompt,
    try_cast(attributes['gen_ai.completion'] AS JSON) AS completion,
    try_cast(attributes['langsmith.metadata.usage_metadata'] AS JSON) AS usage
  FROM bucket_spans
  WHERE attributes['langsmith.span.kind'] IS NOT NULL
),

described AS (
  SELECT
    runs.*,
    user_texts.user_input,
    user_texts.answer
  FROM runs
  LEFT JOIN user_texts USING (key)
)

SELECT
  key,
  CASE
    WHEN kind = 'llm' THEN 'model'
    WHEN kind = 'tool' THEN 'tool'
    WHEN kind = 'chain' AND (is_agent OR parent_span_id IS NULL) THEN 'agent'
    ELSE 'other'
  END AS operation,
  coalesce(
    attributes['langsmith.metadata.lc_agent_name'],
    -- A graph that has a name.
    CASE
      WHEN
        kind = 'chain'
        AND attributes['langsmith.metadata.ls_integration'] = 'langgraph'
        AND attributes['langsmith.metadata.langgraph_node'] IS NULL
        THEN nullif(attributes['langsmith.trace.name'], 'LangGraph')
    END
  ) AS agent_name,
  CASE WHEN kind = 'chain' THEN nullif(attributes['langsmith.trace.name'], 'LangGraph') END
    AS agent_label,
  if(kind = 'tool', coalesce(attributes['gen_ai.tool.name'], name), NULL) AS tool_name,
  coalesce(
    attributes['gen_ai.tool.call.id'], completion ->> '$.output.tool_call_id'
  ) AS call_id,
  if(kind = 'tool', attributes['gen_ai.prompt'], NULL) AS arguments,
  if(
    kind = 'tool',
    result_text(
      coalesce(
        completion ->> '$.output.content',
        completion ->> '$.output',
        -- A function that failed has the output null.
        CASE
          WHEN NOT coalesce(json_exists(completion, '$.output'), FALSE)
            THEN nullif(attributes['gen_ai.completion'], '{}')
        END
      )
    ),
    NULL
  ) AS result,
  if(kind = 'chain', user_input, NULL) AS user_input,
  CASE
    WHEN kind <> 'chain' THEN NULL
    WHEN answer IS NULL AND json_type(completion, '$.output') = 'VARCHAR'
      THEN completion ->> '$.output'
    ELSE answer
  END AS answer,
  failed OR coalesce(completion ->> '$.output.status' = 'error', FALSE) AS failed,
  -- An error is written as its repr, followed by the traceback.
  nullif(
    regexp_extract(
      exception['exception.message'], '(?s)^\w+\([\x27"](.*)[\x27"],?\)\s*Traceback', 1
    ),
    ''
  ) AS error_message,
  coalesce(attributes['gen_ai.response.model'], attributes['gen_ai.request.model']) AS model,
  try_cast(attributes['gen_ai.usage.input_tokens'] AS BIGINT) AS input_tokens,
  try_cast(attributes['gen_ai.usage.output_tokens'] AS BIGINT) AS output_tokens,
  reported_usage(usage).cache_read_tokens AS cache_read_tokens,
  reported_usage(usage).reasoning_tokens AS reasoning_tokens,
  reported_usage(usage).cache_write_tokens AS cache_write_tokens,
  coalesce(
    reported_usage(usage).total_tokens, try_cast(attributes['gen_ai.usage.total_tokens'] AS BIGINT)
  ) AS total_tokens,
  if(usage IS NULL, NULL, FALSE) AS excludes_cached,
  coalesce(attributes['gen_ai.tool.definitions'], nullif(prompt ->> '$.tools', 'null'))
    AS offered_tools,
  coalesce(
    attributes['langsmith.metadata.thread_id'], attributes['langsmith.metadata.session_id']
  ) AS conversation_id
FROM described;
