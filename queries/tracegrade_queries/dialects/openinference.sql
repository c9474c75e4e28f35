-- OpenInference: lists are flattened into indexed keys; openinference.span.kind tells the kind.
--
-- Indices may have holes, since exporters evict the oldest attributes: each key is read by itself.
-- Spans of one shape have the same keys, whose paths are taken apart once.
--
-- Rank:
--   20
-- Marks:
--   ^openinference\.
-- Reads:
--   bucket_spans
--   shapes
-- Order:
--   none
CREATE OR REPLACE TEMP TABLE openinference_messages AS
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
),

fields AS (
  SELECT
    shape,
    place,
    CASE path[2] WHEN 'input_messages' THEN 'in' ELSE 'out' END AS direction,
    try_cast(path[3] AS BIGINT) AS message_position,
    path[5] AS field,
    try_cast(path[6] AS BIGINT) AS item,
    path[-1] AS leaf
  FROM paths
),

message_places AS (
  SELECT
    shape,
    direction,
    message_position,
    min(place) FILTER (WHERE field = 'role') AS role,
    min(place) FILTER (WHERE field = 'content' AND item IS NULL) AS content,
    min(place) FILTER (WHERE field = 'name') AS name,
    min(place) FILTER (WHERE field = 'tool_call_id') AS call_id
  FROM fields
  GROUP BY shape, direction, message_position
),

item_places AS (
  SELECT
    shape,
    direction,
    message_position,
    field,
    item,
    min(place) FILTER (WHERE leaf = 'type') AS type,
    min(place) FILTER (WHERE leaf = 'text') AS text,
    min(place) FILTER (WHERE leaf = 'id') AS call_id,
    min(place) FILTER (WHERE leaf = 'name') AS tool_name,
    min(place) FILTER (WHERE leaf = 'arguments') AS arguments
  FROM fields
  WHERE field IN ('contents', 'tool_calls') AND item IS NOT NULL
  GROUP BY shape, direction, message_position, field, item
),

spans AS NOT MATERIALIZED (
  SELECT
    key,
    shape,
    map_values(attributes) AS told
  FROM bucket_spans
  WHERE attributes['openinference.span.kind'] = 'LLM'
),

messages AS (
  SELECT
    spans.key,
    places.direction,
    places.message_position,
    -- The role `tool-call` of smolagents repeats what the model requested.
    CASE
      -- With Anthropic's client, the user's message that answers a call.
      WHEN spans.told[places.call_id] IS NOT NULL THEN 'tool'
      WHEN spans.told[places.role] = 'ai' THEN 'assistant'
      WHEN spans.told[places.role] = 'human' THEN 'user'
      WHEN spans.told[places.role] IN ('function', 'tool-response') THEN 'tool'
      ELSE spans.told[places.role]
    END AS role,
    spans.told[places.content] AS content,
    spans.told[places.name] AS name,
    spans.told[places.call_id] AS call_id
  FROM spans
  INNER JOIN message_places AS places USING (shape)
),

items AS (
  SELECT
    spans.key,
    places.direction,
    places.message_position,
    places.field,
    places.item,
    spans.told[places.type] AS type,
    spans.told[places.text] AS text,
    spans.told[places.call_id] AS call_id,
    spans.told[places.tool_name] AS tool_name,
    spans.told[places.arguments] AS arguments
  FROM spans
  INNER JOIN item_places AS places USING (shape)
),

-- Anthropic's client: before 0.1.20, of several results in one message only the last was written.
raw_messages AS (
  SELECT
    key,
    unnest(from_json(try_cast(attributes['input.value'] AS JSON) -> '$.messages', '["JSON"]'))
      AS message,
    generate_subscripts(
      from_json(try_cast(attributes['input.value'] AS JSON) -> '$.messages', '["JSON"]'), 1
    ) - 1 AS message_position
  FROM bucket_spans
  WHERE
    scope_name = 'openinference.instrumentation.anthropic'
    AND attributes['openinference.span.kind'] = 'LLM'
    AND contains(attributes['input.value'], '"tool_result"')
),

raw_blocks AS (
  SELECT
    key,
    message_position,
    unnest(from_json(message -> '$.content', '["JSON"]')) AS block,
    generate_subscripts(from_json(message -> '$.content', '["JSON"]'), 1) AS part_position
  FROM raw_messages
  WHERE message ->> '$.role' = 'user' AND json_type(message, '$.content') = 'ARRAY'
),

raw_results AS (
  SELECT
    raw_blocks.key,
    raw_blocks.message_position,
    raw_blocks.part_position - 1_000_000 AS part_position,
    block_part(raw_blocks.block) AS part
  FROM raw_blocks
  ANTI JOIN messages
    ON
      raw_blocks.key = messages.key
      AND raw_blocks.block ->> '$.tool_use_id' = messages.call_id
  WHERE raw_blocks.block ->> '$.type' = 'tool_result'
),

-- Calls are told here, and by some as items of the content as well.
requesting AS (
  SELECT DISTINCT
    key,
    direction,
    message_position
  FROM items
  WHERE field = 'tool_calls'
),

-- Some write a message's text both as `content` and as the only item of `contents`.
itemised AS (
  SELECT
    key,
    direction,
    message_position,
    string_agg(text, '\n' ORDER BY item) AS text
  FROM items
  WHERE field = 'contents' AND type = 'text'
  GROUP BY key, direction, message_position
),

-- The Agents SDK with Chat Completions: a message as it came, else the response that a stream
-- became. Reasoning stands there alone; of a stream, all does.
raw_outputs AS (
  SELECT
    key,
    try_cast(attributes['output.value'] AS JSON) -> '$[0]' AS output
  FROM bucket_spans
  WHERE
    scope_name = 'openinference.instrumentation.openai_agents'
    AND attributes['openinference.span.kind'] = 'LLM'
    AND starts_with(attributes['output.value'], '[')
),

raw_items AS (
  SELECT
    raw_outputs.key,
    unnest(from_json(raw_outputs.output -> '$.output', '["JSON"]')) AS item,
    generate_subscripts(from_json(raw_outputs.output -> '$.output', '["JSON"]'), 1) AS position
  FROM raw_outputs
  ANTI JOIN messages ON raw_outputs.key = messages.key AND messages.direction = 'out'
),

-- Reasoning where only the response as it came tells it: of Chat Completions, of Responses, of
-- Anthropic, of Bedrock and of Gemini.
reasoning AS (
  SELECT key
  FROM items
  WHERE direction = 'out' AND field = 'contents' AND type = 'reasoning'
),

-- Set apart first, so that no other is read for its thoughts.
unthinking AS MATERIALIZED (
  SELECT
    bucket_spans.key,
    bucket_spans.attributes['output.value'] AS output
  FROM bucket_spans
  ANTI JOIN reasoning USING (key)
  WHERE
    bucket_spans.attributes['openinference.span.kind'] = 'LLM'
    AND starts_with(bucket_spans.attributes['output.value'], '{')
),

-- Looked for before it is read: most outputs hold none.
raw_thoughts AS (
  SELECT
    key,
    CASE
      WHEN
        regexp_matches(
          output, '"(reasoning(_content|Text)?|thinking|summary)": ?("[^"]|[\[{] ?[^\]])'
        )
        THEN try_cast(output AS JSON)
    END AS answer,
    list_filter(
      json_extract_string(
        answer, ['$.choices[0].message.reasoning_content', '$.choices[0].message.reasoning']
      ), LAMBDA thought: thought <> ''
    )[:1]
    || (answer ->> '$.output[*].summary[*].text')
    || (answer ->> '$.content[*].thinking')
    || (answer ->> '$.output.message.content[*].reasoningContent.reasoningText.text') AS thoughts
  FROM unthinking
),

raw_reasoning AS (
  SELECT
    key,
    array_to_string(thoughts, '\n') AS text
  FROM raw_thoughts
  WHERE len(thoughts) > 0
),

-- smolagents tells a result as text, `Call id: …` before it. What its code agents see are results
-- of whole pieces of code; calls in them have no id.
coding AS (
  SELECT DISTINCT itemised.key
  FROM itemised
  INNER JOIN messages USING (key, direction, message_position)
  WHERE messages.role = 'tool-call' AND contains(itemised.text, '''python_interpreter''')
),

-- smolagents writes reasoning as one more text; what the model said is in the raw output.
smolagents AS (
  SELECT
    key,
    coalesce(try_cast(attributes['output.value'] AS JSON) ->> '$.content', '') AS content
  FROM bucket_spans
  WHERE scope_name = 'openinference.instrumentation.smolagents'
),

-- These leave out arguments that are empty; elsewhere what was not sent is not known.
terse AS (
  SELECT key
  FROM bucket_spans
  WHERE
    scope_name IN (
      'openinference.instrumentation.openai_agents', 'openinference.instrumentation.langchain'
    )
    AND NOT dropped
)

SELECT
  messages.key,
  messages.direction,
  messages.message_position,
  0 AS part_position,
  messages.role,
  'tool_call_response' AS part_type,
  messages.name AS tool_name,
  coalesce(
    messages.call_id,
    CASE
      WHEN coding.key IS NULL
        THEN nullif(regexp_extract(itemised.text, '^Call id: (\S+)', 1), '')
    END
  ) AS call_id,
  result_text(
    regexp_replace(
      coalesce(messages.content, itemised.text), '^(Call id: \S*\s*)?(Observation:\s*)?', ''
    )
  ) AS result
FROM messages
LEFT JOIN itemised USING (key, direction, message_position)
LEFT JOIN coding USING (key)
WHERE messages.role = 'tool'
UNION ALL BY NAME
SELECT
  key,
  'in' AS direction,
  message_position,
  part_position,
  'tool' AS role,
  part.part_type,
  part.call_id,
  result_text(part.result) AS result
FROM raw_results
UNION ALL BY NAME
SELECT
  messages.key,
  messages.direction,
  messages.message_position,
  0 AS part_position,
  messages.role,
  'text' AS part_type,
  messages.content AS text
FROM messages
ANTI JOIN itemised USING (key, direction, message_position)
WHERE messages.content IS NOT NULL AND coalesce(messages.role, '') NOT IN ('tool', 'tool-call')
UNION ALL BY NAME
SELECT
  items.key,
  items.direction,
  items.message_position,
  CASE
    WHEN items.direction = 'out' AND items.text <> smolagents.content THEN -1
    ELSE 1 + items.item
  END AS part_position,
  messages.role,
  CASE
    WHEN items.direction = 'out' AND items.text <> smolagents.content THEN 'reasoning'
    WHEN items.type = 'tool_use' THEN 'tool_call'
    ELSE items.type
  END AS part_type,
  items.text,
  items.tool_name,
  items.call_id,
  items.arguments
FROM items
INNER JOIN messages USING (key, direction, message_position)
LEFT JOIN smolagents USING (key)
LEFT JOIN requesting USING (key, direction, message_position)
WHERE
  items.field = 'contents'
  AND coalesce(messages.role, '') NOT IN ('tool', 'tool-call')
  AND (items.type IS DISTINCT FROM 'tool_use' OR requesting.key IS NULL)
UNION ALL BY NAME
SELECT
  items.key,
  items.direction,
  items.message_position,
  1_000_000 + items.item AS part_position,
  messages.role,
  'tool_call' AS part_type,
  items.tool_name,
  items.call_id,
  coalesce(items.arguments, CASE WHEN terse.key IS NOT NULL THEN '{}' END) AS arguments
FROM items
INNER JOIN messages USING (key, direction, message_position)
LEFT JOIN terse USING (key)
WHERE items.field = 'tool_calls'
UNION ALL BY NAME
SELECT
  key,
  'out' AS direction,
  0 AS message_position,
  -1 AS part_position,
  'assistant' AS role,
  'reasoning' AS part_type,
  output ->> '$.reasoning_content' AS text
FROM raw_outputs
WHERE json_type(output, '$.reasoning_content') = 'VARCHAR'
UNION ALL BY NAME
SELECT
  key,
  'out' AS direction,
  0 AS message_position,
  -1 AS part_position,
  'assistant' AS role,
  'reasoning' AS part_type,
  text
FROM raw_reasoning
UNION ALL BY NAME
SELECT
  key,
  'out' AS direction,
  0 AS message_position,
  position AS part_position,
  'assistant' AS role,
  CASE item ->> '$.type'
    WHEN 'message' THEN 'text'
    WHEN 'function_call' THEN 'tool_call'
    ELSE item ->> '$.type'
  END AS part_type,
  array_to_string(
    (item ->> '$.summary[*].text') || (item ->> '$.content[*].text'), '\n'
  ) AS text,
  item ->> '$.name' AS tool_name,
  item ->> '$.call_id' AS call_id,
  item ->> '$.arguments' AS arguments
FROM raw_items;

-- Where no key tells a message, the whole input and output do.
CREATE OR REPLACE TEMP TABLE openinference_whole AS
WITH names AS (
  SELECT
    shape,
    unnest(names) AS name
  FROM shapes
),

told AS (
  SELECT
    shape,
    bool_or(starts_with(name, 'llm.input_messages.')) AS heard,
    bool_or(starts_with(name, 'llm.output_messages.')) AS said
  FROM names
  GROUP BY shape
),

spans AS (
  SELECT
    bucket_spans.key,
    bucket_spans.attributes,
    told.heard AS tells_heard,
    -- What the Agents SDK answered is read above; a call that failed tells of its error.
    told.said
    OR bucket_spans.failed
    OR bucket_spans.scope_name = 'openinference.instrumentation.openai_agents' AS tells_said
  FROM bucket_spans
  INNER JOIN told USING (shape)
  WHERE bucket_spans.attributes['openinference.span.kind'] = 'LLM'
)

SELECT
  key,
  CASE WHEN NOT tells_heard THEN nullif(attributes['input.value'], '__REDACTED__') END AS heard,
  CASE WHEN NOT tells_said THEN nullif(attributes['output.value'], '__REDACTED__') END AS said,
  try_cast(said AS JSON) AS answer
FROM spans
WHERE NOT (tells_heard AND tells_said);

CREATE OR REPLACE TEMP VIEW openinference_held AS
SELECT
  key,
  'in' AS direction,
  1 AS position,
  'user' AS role,
  heard AS text
FROM openinference_whole
UNION ALL
SELECT
  key,
  'out' AS direction,
  1 AS position,
  'assistant' AS role,
  -- Of Bedrock and Gemini; what others answered is read as it is.
  coalesce(
    answer ->> '$.output.message',
    CASE
      WHEN json_exists(answer, '$.candidates[0].content.parts')
        THEN json_object('content', answer -> '$.candidates[0].content.parts')::VARCHAR
    END,
    said
  ) AS text
FROM openinference_whole
WHERE json_type(answer, '$.output') IS DISTINCT FROM 'ARRAY';

CREATE OR REPLACE TEMP VIEW openinference_chat AS
WITH held AS (
  SELECT
    *,
    -- Messages of smolagents, as Python prints them.
    regexp_extract(
      message ->> '$.content',
      '(?s)^ChatMessage\(role=<MessageRole\.\w+: \x27([\w-]+)\x27>, content='
      '\[\{\x27type\x27: \x27text\x27, \x27text\x27: [\x27"](.*)[\x27"]\}\], tool_calls=',
      ['role', 'text']
    ) AS printed
  FROM held_chat('openinference_held')
)

SELECT
  key,
  direction,
  message_position,
  CASE
    WHEN printed.role <> ''
      THEN
        json_object(
          'role', if(printed.role = 'tool-response', 'tool', printed.role),
          'content', regexp_replace(replace(printed.text, '\n', chr(10)), '^Observation:\s*', '')
        )
    ELSE message
  END AS message
FROM held
-- What else Python printed cannot be read.
WHERE
  printed.role <> ''
  OR NOT coalesce(regexp_matches(message ->> '$.content', '^\w+(\(\w+)?=[\x27"<\[]'), FALSE)
UNION ALL
-- Items of Responses.
SELECT
  key,
  'out' AS direction,
  generate_subscripts(from_json(answer -> '$.output', '["JSON"]'), 1) AS message_position,
  unnest(from_json(answer -> '$.output', '["JSON"]')) AS message
FROM openinference_whole
WHERE json_type(answer, '$.output') = 'ARRAY';

INSERT INTO openinference_messages BY NAME
FROM chat_parts('openinference_chat') AS parts
WHERE
  parts.part_type <> 'reasoning'
  OR parts.key NOT IN (
    SELECT openinference_messages.key FROM openinference_messages
    WHERE openinference_messages.part_type = 'reasoning'
  );

CREATE OR REPLACE TEMP VIEW openinference_operations AS
WITH marked AS (
  SELECT
    *,
    attributes['openinference.span.kind'] AS span_kind,
    attributes['input.value'] AS input_value,
    attributes['output.value'] AS output_value,
    json_extract_string(
      try_cast(attributes['metadata'] AS JSON),
      ['$.lc_agent_name', '$.langgraph_node', '$.ls_integration', '$.thread_id']
    ) AS metadata,
    metadata[1] AS lc_agent_name,
    metadata[2] AS graph_node,
    coalesce(metadata[3], '') IN ('deepagents', 'langchain_create_agent', 'langgraph') AS in_graph,
    metadata[4] AS thread_id
  FROM bucket_spans
  WHERE attributes['openinference.span.kind'] IS NOT NULL
),

-- Of LangChain, AGENT is whatever has "agent" in its name, be it a tool or a node of a graph; an
-- agent of another name is a CHAIN. Its metadata tell which spans are whole agents and graphs.
kinds AS (
  SELECT
    *,
    CASE
      -- LlamaIndex: no model is called there.
      WHEN span_kind = 'LLM' AND name LIKE '%.\_prepare\_chat\_with\_tools' ESCAPE '\'
        THEN 'other'
      -- Google ADK: the agent's span, over which its model calls are written.
      WHEN span_kind = 'LLM' AND starts_with(name, 'invoke_agent ') THEN 'agent'
      WHEN span_kind = 'LLM' THEN 'model'
      WHEN span_kind = 'EVALUATOR' THEN 'evaluator'
      WHEN
        span_kind = 'CHAIN'
        AND scope_name = 'openinference.instrumentation.llama_index'
        AND regexp_matches(name, '^\w*(Agent|AgentWorkflow)\.run$')
        THEN 'agent'
      -- DSPy: `finish` only ends the agent's loop.
      WHEN scope_name = 'openinference.instrumentation.dspy' AND name = 'finish.__call__'
        THEN 'other'
      WHEN
        scope_name = 'openinference.instrumentation.dspy'
        AND span_kind = 'CHAIN'
        AND name LIKE 'ReAct%.forward'
        THEN 'agent'
      -- A crew of CrewAI's and a team of AutoGen's: their agents' work is one run.
      WHEN
        span_kind = 'CHAIN'
        AND (attributes['crew_key'] IS NOT NULL OR attributes['team_id'] IS NOT NULL)
        THEN 'agent'
      WHEN span_kind = 'TOOL' AND attributes['tool.name'] IS NULL AND name LIKE 'handoff to %'
        THEN 'handoff'
      WHEN span_kind = 'TOOL' THEN 'tool'
      WHEN span_kind = 'AGENT' AND attributes['tool.name'] IS NOT NULL THEN 'tool'
      WHEN name = lc_agent_name AND span_kind IN ('AGENT', 'CHAIN') THEN 'agent'
      WHEN span_kind = 'AGENT' AND name <> coalesce(graph_node, '') THEN 'agent'
      WHEN in_graph AND span_kind = 'CHAIN' AND (graph_node IS NULL OR name = 'LangGraph')
        THEN 'agent'
      ELSE 'other'
    END AS operation
  FROM marked
),

spans AS (
  SELECT
    *,
    CASE WHEN operation IN ('agent', 'tool') THEN try_cast(input_value AS JSON) END AS input,
    CASE WHEN operation IN ('agent', 'tool') THEN try_cast(output_value AS JSON) END AS output,
    CASE WHEN operation = 'tool' THEN try_cast(attributes['tool.parameters'] AS JSON) END
      AS parameters
  FROM kinds
),

offer_places AS (
  SELECT
    shape,
    list_filter(
      generate_series(1, len(names)), LAMBDA place: starts_with(names[place], 'llm.tools.')
    ) AS places
  FROM shapes
),

offered AS (
  SELECT
    bucket_spans.key,
    list_select(map_entries(bucket_spans.attributes), offer_places.places) AS entries
  FROM bucket_spans
  INNER JOIN offer_places USING (shape)
  WHERE
    len(offer_places.places) > 0
    AND bucket_spans.attributes['openinference.span.kind'] = 'LLM'
),

-- Model calls mostly offer what others did: each such offer is read once.
distinct_offers AS (
  SELECT DISTINCT entries
  FROM offered
),

tool_entries AS (
  SELECT
    entries,
    unnest(entries) AS entry
  FROM distinct_offers
),

tools AS (
  SELECT
    entries,
    try_cast(string_split(entry.key, '.')[3] AS BIGINT) AS position,
    any_value(entry.value) FILTER (WHERE ends_with(entry.key, '.json_schema')) AS json_schema,
    any_value(entry.value) FILTER (WHERE ends_with(entry.key, '.tool.name')) AS name
  FROM tool_entries
  GROUP BY entries, position
),

-- The schema is the whole definition, or just the parameters with the name beside it.
read_offers AS (
  SELECT
    entries,
    '['
    || string_agg(
      CASE
        WHEN name IS NULL THEN json_schema
        ELSE json_object('name', name, 'parameters', json_schema::JSON)::VARCHAR
      END, ','
      ORDER BY position
    )
    || ']' AS offered_tools
  FROM tools
  WHERE json_valid(json_schema)
  GROUP BY entries
),

offers AS (
  SELECT
    offered.key,
    read_offers.offered_tools
  FROM offered
  INNER JOIN read_offers USING (entries)
),

user_texts AS (
  SELECT
    key,
    arg_max(text, (message_position, part_position)) AS user_input,
    bool_or(contains(text, '<end_plan>')) AS is_for_plan
  FROM openinference_messages
  WHERE direction = 'in' AND role = 'user' AND part_type = 'text'
  GROUP BY key
),

-- What its users hide of what a model said is written so, or left out.
hidden AS (
  SELECT DISTINCT
    key,
    TRUE AS is_hidden
  FROM openinference_messages
  WHERE direction = 'out' AND '__REDACTED__' IN (text, arguments)
),

-- smolagents asks for a plan with a prompt of its own, and no tools.
plans AS (
  SELECT
    key,
    arg_min(text, (message_position, part_position)) AS plan
  FROM openinference_messages
  WHERE
    direction = 'out'
    AND part_type = 'text'
    AND key IN (
      SELECT user_texts.key FROM user_texts
      WHERE user_texts.is_for_plan
    )
  GROUP BY key
),

described AS (
  SELECT
    spans.*,
    offers.offered_tools,
    user_texts.user_input AS user_text,
    plans.plan,
    hidden.is_hidden
  FROM spans
  LEFT JOIN offers USING (key)
  LEFT JOIN user_texts USING (key)
  LEFT JOIN plans USING (key)
  LEFT JOIN hidden USING (key)
)

SELECT
  key,
  operation,
  coalesce(
    attributes['agent.name'],
    CASE
      WHEN
        operation = 'agent'
        AND (name = lc_agent_name OR (in_graph AND span_kind = 'CHAIN' AND name <> 'LangGraph'))
        THEN name
    END
  ) AS agent_name,
  CASE
    WHEN attributes['crew_key'] IS NOT NULL AND span_kind = 'CHAIN' THEN NULL
    WHEN
      operation = 'agent' AND name NOT IN ('LangGraph', 'Agent workflow', coalesce(graph_node, ''))
      THEN regexp_replace(name, '\.(run|run_stream|kickoff|forward|_execute_core)$', '')
  END AS agent_label,
  CASE
    WHEN operation IN ('tool', 'handoff')
      THEN coalesce(attributes['tool.name'], regexp_replace(name, '\.__call__$', ''))
  END AS tool_name,
  CASE
    WHEN operation = 'tool'
      THEN
        coalesce(
          attributes['tool.id'], attributes['tool_call.id'], output ->> '$.data.tool_call_id'
        )
  END AS call_id,
  CASE
    WHEN operation <> 'tool' THEN NULL
    -- Wrappers write the Python call: {"args": [], "kwargs": {…}}.
    WHEN
      json_array_length(input, '$.args') > 0
      AND json_type(input, '$.kwargs') = 'OBJECT'
      AND json_type(parameters) = 'OBJECT'
      THEN
        json_merge_patch(
          to_json(
            map_from_entries(
              list_zip(json_keys(parameters), (input -> '$.args')::JSON[], TRUE)
            )
          ),
          input -> '$.kwargs'
        )::VARCHAR
    -- BeeAI's have options.
    WHEN json_keys(input) = ['input', 'options'] THEN input ->> '$.input'
    WHEN
      json_type(input, '$.kwargs') = 'OBJECT'
      AND (json_keys(input) = ['kwargs'] OR json_type(input, '$.args') = 'ARRAY')
      THEN (input -> '$.kwargs')::VARCHAR
    ELSE input_value
  END AS arguments,
  CASE
    WHEN operation <> 'tool' THEN NULL
    WHEN json_type(output, '$.data.content') IS NOT NULL THEN output ->> '$.data.content'
    WHEN json_type(output, '$.blocks') = 'ARRAY'
      THEN array_to_string(output ->> '$.blocks[*].text', '\n')
    WHEN json_keys(output) = ['id', 'name', 'response'] THEN output ->> '$.response'
    ELSE result_text(output_value)
  END AS result,
  CASE
    WHEN span_kind = 'LLM' THEN user_text
    WHEN operation = 'agent' AND input IS NULL THEN input_value
    WHEN operation = 'agent'
      THEN
        coalesce(
          input ->> '$.messages[#-1][1]',
          CASE
            WHEN json_type(input, '$.messages[#-1].content') = 'VARCHAR'
              THEN input ->> '$.messages[#-1].content'
          END,
          attributes['llm.input_messages.0.message.content'],
          input ->> '$.messages[#-1].content',
          input ->> '$.task',
          (input ->> '$.input_args.*')[1],
          CASE WHEN json_type(input) = 'VARCHAR' THEN input ->> '$' END
        )
    ELSE user_text
  END AS user_input,
  CASE
    WHEN operation <> 'agent' OR span_kind = 'LLM' THEN NULL
    -- What LlamaIndex writes there is a cut Python text.
    WHEN scope_name = 'openinference.instrumentation.llama_index' THEN NULL
    WHEN output IS NULL THEN output_value
    WHEN output ->> '$.messages[#-1].type' <> 'ai' THEN NULL
    WHEN json_type(output, '$.messages[#-1].data.content') = 'ARRAY'
      THEN array_to_string(output ->> '$.messages[#-1].data.content[*].text', '')
    WHEN output ->> '$.messages[#-1].type' = 'ai' THEN output ->> '$.messages[#-1].data.content'
    WHEN json_type(output, '$.raw') = 'VARCHAR' THEN output ->> '$.raw'
    WHEN json_type(output, '$.trajectory') = 'OBJECT' THEN output ->> '$.answer'
    WHEN json_type(output, '$.content.parts') = 'ARRAY'
      THEN output ->> '$.content.parts[#-1].text'
    WHEN json_type(output) = 'VARCHAR' THEN output ->> '$'
  END AS answer,
  failed
  OR coalesce(output ->> '$.data.status' = 'error' OR output ->> '$.is_error' = 'true', FALSE)
    AS failed,
  CASE
    WHEN span_kind = 'LLM'
      THEN
        coalesce(
          attributes['llm.response.model_name'],
          attributes['llm.model_name'],
          attributes['llm.request.model_name']
        )
  END AS model,
  CASE WHEN span_kind = 'LLM' THEN try_cast(attributes['llm.token_count.prompt'] AS BIGINT) END
    AS input_tokens,
  CASE WHEN span_kind = 'LLM' THEN try_cast(attributes['llm.token_count.completion'] AS BIGINT) END
    AS output_tokens,
  CASE
    WHEN span_kind = 'LLM'
      THEN try_cast(attributes['llm.token_count.prompt_details.cache_read'] AS BIGINT)
  END AS cache_read_tokens,
  CASE
    WHEN span_kind = 'LLM'
      THEN try_cast(attributes['llm.token_count.completion_details.reasoning'] AS BIGINT)
  END AS reasoning_tokens,
  CASE
    WHEN span_kind = 'LLM'
      THEN try_cast(attributes['llm.token_count.prompt_details.cache_write'] AS BIGINT)
  END AS cache_write_tokens,
  CASE WHEN span_kind = 'LLM' THEN try_cast(attributes['llm.cost.total'] AS DOUBLE) END
    AS stated_usd,
  coalesce(
    offered_tools,
    attributes['smolagents.tools_names'],
    CASE
      WHEN operation = 'model' AND contains(attributes['llm.invocation_parameters'], '"tools"')
        THEN try_cast(attributes['llm.invocation_parameters'] AS JSON) ->> '$.tools'
    END
  ) AS offered_tools,
  plan,
  coalesce(attributes['session.id'], thread_id) AS conversation_id,
  CASE WHEN input_value = '__REDACTED__' THEN ['redacted'] ELSE [] END
  || CASE WHEN output_value = '__REDACTED__' THEN ['result_redacted'] ELSE [] END
  || CASE WHEN is_hidden THEN ['redacted'] ELSE [] END AS flags
FROM described;
