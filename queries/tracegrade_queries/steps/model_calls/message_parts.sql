-- Parts of the messages that each model span received and sent.
--
-- Text in the ReAct form (`Thought: … Action: … Action Input: …`, then `Observation: …`; DSPy sets
-- headings instead, smolagents names tool and arguments in JSON) or with the code of a code agent
-- is split into the thought, requests and answer it holds, unless its span requests tools
-- otherwise. Functions that earlier code of the run defined are no tools. Most parts are history
-- and none of these forms: their texts go into the result and nowhere in between.
--
-- Reads:
--   code_calls
--   code_names
--   code_texts
--   dialect_messages
--   message_dialects
--   operations
--   operation_runs
-- Needs:
--   message_dialects
-- Columns:
--   key               BIGINT   Model span.
--   direction         VARCHAR  in | out.
--   message_position  BIGINT
--   part_position     BIGINT
--   role              VARCHAR
--   part_type         VARCHAR  text | reasoning | code | tool_call | tool_call_response |
--                              server_tool_call | server_tool_call_response.
--   text              VARCHAR  Without outer blanks; NULL if empty, and of what a system says.
--   tool_name         VARCHAR
--   call_id           VARCHAR  NULL if empty.
--   arguments         VARCHAR
--   result            VARCHAR
--   failed            BOOLEAN  Of a response: the source says that the call failed.
-- Order:
--   none
WITH sent_parts AS NOT MATERIALIZED (
  SELECT
    parts.key,
    parts.direction,
    parts.message_position,
    -- Where calls have a field of their own, those that the provider ran stand with the others,
    -- though the text was written after them.
    if(
      parts.direction = 'out'
      AND parts.part_position > position_gap()
      AND (parts.part_type = 'server_tool_call' OR is_hosted_id(parts.call_id)),
      parts.part_position - position_gap(),
      1_000 * parts.part_position
    ) AS part_position,
    parts.role,
    -- Some tell what a provider ran like any call: its id says which.
    if(
      parts.part_type = 'tool_call' AND is_hosted_id(parts.call_id),
      'server_tool_call',
      parts.part_type
    ) AS part_type,
    CASE
      WHEN parts.direction = 'out' AND starts_with(parts.text, '[[ ## ')
        THEN headings_as_react(parts.text)
      ELSE parts.text
    END AS text,
    -- CrewAI writes these as Python prints them.
    if(
      parts.part_type = 'tool_call' AND is_hosted_id(parts.call_id),
      regexp_replace(parts.tool_name, '^(\w+)_call$', '\1'),
      without_quotes(parts.tool_name)
    ) AS tool_name,
    nullif(parts.call_id, '') AS call_id,
    if(
      without_quotes(parts.tool_name) <> parts.tool_name,
      without_quotes(parts.arguments),
      parts.arguments
    ) AS arguments,
    parts.result,
    parts.failed,
    parts.direction = 'out' AND parts.part_type = 'text' AS is_output_text,
    coalesce(
      CASE parts.direction
        WHEN 'in' THEN parts.role = 'user' OR starts_with(parts.text, '[[ ## ')
        ELSE parts.part_type = 'text'
      END,
      FALSE
    ) AS may_have_form
  FROM dialect_messages AS parts
  INNER JOIN message_dialects USING (key, direction, precedence)
  -- Two lists: one of six is planned as a join, in each dialect.
  WHERE
    parts.part_type IN ('text', 'reasoning', 'tool_call', 'tool_call_response')
    OR parts.part_type IN ('server_tool_call', 'server_tool_call_response')
),

chosen AS MATERIALIZED (
  SELECT *
  FROM sent_parts
  WHERE may_have_form
),

requesting AS (
  SELECT DISTINCT key
  FROM sent_parts
  WHERE direction = 'out' AND part_type = 'tool_call'
),

-- Inputs in which a framework may speak in the user's name.
suspected AS (
  SELECT DISTINCT key
  FROM chosen
  WHERE
    direction = 'in'
    AND role = 'user'
    AND part_type = 'text'
    AND (starts_with(text, task_heading()) OR starts_with(text, 'Observation:'))
),

openings AS (
  SELECT
    chosen.key,
    min(chosen.message_position) AS message_position,
    arg_min(chosen.text, (chosen.message_position, chosen.part_position)) AS text
  FROM chosen
  SEMI JOIN suspected USING (key)
  WHERE chosen.direction = 'in' AND chosen.role = 'user' AND chosen.part_type = 'text'
  GROUP BY chosen.key
),

task_runs AS (
  SELECT DISTINCT operation_runs.run
  FROM openings
  INNER JOIN operation_runs USING (key)
  WHERE starts_with(openings.text, task_heading())
),

-- A run without an agent's span may be of any framework: the process may have died.
smolagents_runs AS (
  SELECT operation_runs.run
  FROM operation_runs
  SEMI JOIN task_runs USING (run)
  INNER JOIN operations USING (key)
  GROUP BY operation_runs.run
  HAVING
    bool_or(contains(operations.scope_name, 'smolagents'))
    OR NOT bool_or(operations.operation = 'agent')
),

-- smolagents puts a task to its models below `New task:`, and asks for more in the user's name.
tasked AS (
  SELECT operation_runs.key
  FROM operation_runs
  SEMI JOIN smolagents_runs USING (run)
),

-- Earlier versions of Google ADK: what other agents did stands in parts of its own.
headed AS (
  SELECT DISTINCT
    key,
    message_position
  FROM chosen
  WHERE direction = 'in' AND text = 'For context:'
),

quoted AS (
  SELECT DISTINCT
    chosen.key,
    chosen.message_position
  FROM chosen
  LEFT JOIN headed USING (key, message_position)
  WHERE
    chosen.direction = 'in'
    AND (quotes_agent(chosen.text) OR (headed.key IS NOT NULL AND tells_of_agent(chosen.text)))
),

forms AS (
  SELECT
    chosen.*,
    code_texts.thought,
    code_texts.code,
    CASE
      WHEN
        chosen.direction = 'in'
        AND starts_with(chosen.text, '[[ ## ')
        AND contains(chosen.text, '[[ ## trajectory ## ]]')
        THEN 'headings'
      WHEN
        chosen.direction = 'in'
        AND chosen.role = 'user'
        AND chosen.part_type = 'text'
        AND (
          -- A conversation opens with words of the user's own.
          (
            starts_with(chosen.text, 'Observation:')
            AND chosen.message_position > openings.message_position
          )
          OR (
            contains(chosen.text, retry_notice())
            AND regexp_matches(chosen.text, '^(Call id: \S*\s+)?Error:')
          )
        )
        THEN 'observation'
      WHEN
        chosen.key IN (FROM tasked)
        AND chosen.direction = 'in'
        AND chosen.role = 'user'
        AND chosen.part_type = 'text'
        THEN if(starts_with(chosen.text, task_heading()), 'task', 'prompt')
      WHEN
        (chosen.key, chosen.message_position) IN (FROM quoted)
        AND chosen.direction = 'in'
        AND chosen.role = 'user'
        AND chosen.part_type = 'text'
        THEN 'prompt'
      WHEN chosen.direction = 'in' AND chosen.role = 'user' AND is_crew_prompt(chosen.text)
        THEN 'prompt'
      WHEN NOT chosen.is_output_text OR chosen.key IN (FROM requesting) THEN 'plain'
      WHEN code_texts.text IS NOT NULL THEN 'code'
      WHEN
        regexp_matches(chosen.text, 'Action:[^\n]*\n\s*Action Input:')
        OR json_action(chosen.text) IS NOT NULL
        THEN 'action'
      WHEN
        regexp_matches(
          chosen.text, '(?s)^\s*(Thought:.*)?Final Answer:|^\s*Thought:.*\n\s*Answer:'
        )
        THEN 'answer'
      ELSE 'plain'
    END AS form
  FROM chosen
  LEFT JOIN openings USING (key)
  LEFT JOIN code_texts ON chosen.is_output_text AND chosen.text = code_texts.text
  WHERE NOT (chosen.is_output_text AND coalesce(is_printed_object(chosen.text), FALSE))
),

actions AS (
  SELECT
    *,
    json_action(text) AS call,
    regexp_extract(
      text,
      '(?s)^\s*(?:Thought:\s*)?(.*?)\s*Action:\s*'
      '(?:\{.*|([^\n]*?)\s*\n\s*Action Input:\s*(.*?)\s*(?:\nObservation:.*)?)$',
      ['thought', 'action', 'input']
    ) AS fields
  FROM forms
  WHERE form = 'action'
),

answers AS (
  SELECT
    *,
    regexp_extract(
      text,
      '(?s)^\s*(?:Thought:\s*)?(.*?)\s*(?:Final Answer|\n\s*Answer):\s*(.*?)\s*$',
      ['thought', 'answer']
    ) AS fields
  FROM forms
  WHERE form = 'answer'
),

-- Some clients join messages of one role: the error of the first call follows the task.
tasks AS (
  SELECT
    *,
    regexp_extract(
      text,
      '(?s)^' || task_heading() || '\s*(.*?)\s*'
      '(?:\n(Error:\n.*' || regexp_escape(retry_notice()) || '.*?)\s*)?$',
      ['task', 'error']
    ) AS fields
  FROM forms
  WHERE form = 'task'
),

coded AS (
  SELECT
    forms.*,
    operation_runs.run,
    operations.start_ns
  FROM forms
  INNER JOIN operations USING (key)
  INNER JOIN operation_runs USING (key)
  WHERE forms.form = 'code'
),

definitions AS (
  SELECT
    coded.run,
    code_names.name,
    min(coded.start_ns) AS start_ns
  FROM coded
  INNER JOIN code_names USING (code)
  GROUP BY coded.run, code_names.name
),

split_parts AS (
  SELECT
    key,
    direction,
    message_position,
    part_position,
    role,
    part_type,
    -- Long, heard with each call, and never read.
    if(direction = 'in' AND role = 'system', NULL, text) AS text,
    tool_name,
    call_id,
    arguments,
    result,
    failed
  FROM sent_parts
  WHERE NOT may_have_form
  UNION ALL BY NAME
  SELECT
    key,
    direction,
    message_position,
    part_position,
    role,
    part_type,
    if(direction = 'in' AND role = 'user', crew_task(text), text) AS text,
    tool_name,
    call_id,
    arguments,
    result,
    failed
  FROM forms
  WHERE form = 'plain'
  UNION ALL BY NAME
  SELECT
    key,
    direction,
    message_position,
    part_position,
    role,
    'reasoning' AS part_type,
    fields.thought AS text
  FROM actions
  UNION ALL BY NAME
  SELECT
    key,
    direction,
    message_position,
    part_position + 1 AS part_position,
    role,
    'tool_call' AS part_type,
    coalesce(call ->> '$.name', fields.action) AS tool_name,
    coalesce(call ->> '$.arguments', fields.input) AS arguments
  FROM actions
  UNION ALL BY NAME
  SELECT
    key,
    direction,
    message_position,
    part_position,
    role,
    'reasoning' AS part_type,
    fields.thought AS text
  FROM answers
  UNION ALL BY NAME
  SELECT
    key,
    direction,
    message_position,
    part_position + 1 AS part_position,
    role,
    'text' AS part_type,
    fields.answer AS text
  FROM answers
  UNION ALL BY NAME
  SELECT
    key,
    direction,
    message_position,
    part_position,
    role,
    'tool_call_response' AS part_type,
    regexp_extract(
      text,
      '(?s)^(?:Call id: \S*\s+)?(?:Observation:)?\s*(.*?)\s*'
      '(?:\nBased on the above, please provide an answer to the following user task:.*)?$',
      1
    ) AS result,
    asks_to_retry(text) AS failed
  FROM forms
  WHERE form = 'observation'
  UNION ALL BY NAME
  -- DSPy tells its model again what was asked, and all that was done.
  SELECT
    key,
    direction,
    message_position,
    part_position,
    role,
    part_type,
    regexp_replace(
      regexp_extract(text, '(?s)^(.*?)\s*\[\[ ## trajectory ## \]\]', 1),
      '\[\[ ## \w+ ## \]\]\s*', '', 'g'
    ) AS text
  FROM forms
  WHERE form = 'headings'
  UNION ALL BY NAME
  SELECT
    key,
    direction,
    message_position,
    part_position + 1 AS part_position,
    role,
    'tool_call_response' AS part_type,
    regexp_extract(
      text,
      '(?s)^.*\[\[ ## observation_\d+ ## \]\]\n?(.*?)\s*'
      '(?:\nRespond with the corresponding output fields.*)?$',
      1
    ) AS result
  FROM forms
  WHERE form = 'headings' AND contains(text, '[[ ## observation_0 ## ]]')
  UNION ALL BY NAME
  SELECT
    key,
    direction,
    message_position,
    part_position,
    role,
    part_type,
    fields.task AS text
  FROM tasks
  UNION ALL BY NAME
  SELECT
    key,
    direction,
    message_position,
    part_position,
    'system' AS role,
    part_type,
    text
  FROM forms
  WHERE form = 'prompt'
  UNION ALL BY NAME
  SELECT
    key,
    direction,
    message_position,
    part_position + 1 AS part_position,
    role,
    'tool_call_response' AS part_type,
    fields.error AS result
  FROM tasks
  WHERE fields.error <> ''
  UNION ALL BY NAME
  SELECT
    key,
    direction,
    message_position,
    part_position,
    role,
    'reasoning' AS part_type,
    thought AS text
  FROM coded
  UNION ALL BY NAME
  SELECT
    coded.key,
    coded.direction,
    coded.message_position,
    coded.part_position + code_calls.position AS part_position,
    coded.role,
    'tool_call' AS part_type,
    code_calls.tool_name,
    code_calls.arguments
  FROM coded
  INNER JOIN code_calls USING (code)
  LEFT JOIN definitions
    ON
      coded.run = definitions.run
      AND code_calls.tool_name = definitions.name
      AND coded.start_ns > definitions.start_ns
  WHERE definitions.name IS NULL
  UNION ALL BY NAME
  SELECT
    key,
    direction,
    message_position,
    part_position,
    role,
    'code' AS part_type,
    code AS text
  FROM coded
)

SELECT * REPLACE (nullif(without_blanks(text), '') AS text)
FROM split_parts;
