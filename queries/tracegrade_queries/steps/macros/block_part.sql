-- The arguments that a call states to be null, or that Google leaves out where there are none: {}.
-- NULL of all else.
CREATE OR REPLACE TEMP MACRO stated_nothing(CALL) AS
CASE
  WHEN
    contains(call::VARCHAR, 'null')
    AND 'NULL' IN (
      json_type(call, '$.arguments'),
      json_type(call, '$.input'),
      json_type(call, '$.args'),
      json_type(call, '$.function.arguments'),
      json_type(call, '$.toolUse.input')
    )
    THEN '{}'
  WHEN
    regexp_matches(call::VARCHAR, '"function_?[cC]all"')
    AND 'OBJECT' IN (json_type(call, '$.functionCall'), json_type(call, '$.function_call'))
    THEN '{}'
END;

-- What one content block of a model provider's message is, as a part of ours.
--
-- Reads the blocks of OpenAI (`text`, `input_text`, `output_text`, `function`), Anthropic (`text`,
-- `thinking`, `tool_use`, `tool_result`), Vercel's AI SDK (`text`, `reasoning`, `tool-call`,
-- `tool-result`),
-- Bedrock (`text`, `reasoningContent`, `toolUse`, `toolResult`), Google (`text` with `thought`,
-- `function_call`, `function_response`) and Pydantic AI (`kind`).
-- A STRUCT(part_type, text, tool_name, call_id, arguments, result, all VARCHAR, and failed
-- BOOLEAN: of a result, that the block says so beside it); part_type is NULL for any other block.
CREATE OR REPLACE TEMP MACRO block_part(BLOCK) AS {
  'part_type': CASE
    WHEN json_exists(block, '$.toolUse') THEN 'tool_call'
    WHEN json_type(block, '$.function_call') = 'OBJECT' THEN 'tool_call'
    WHEN json_exists(block, '$.functionCall') THEN 'tool_call'
    WHEN json_exists(block, '$.toolRequest') THEN 'tool_call'
    WHEN block ->> '$.type' IN ('tool_use', 'tool-call') THEN 'tool_call'
    WHEN json_type(block, '$.function') = 'OBJECT' THEN 'tool_call'
    WHEN json_exists(block, '$.toolResult') THEN 'tool_call_response'
    WHEN json_type(block, '$.function_response') = 'OBJECT' THEN 'tool_call_response'
    WHEN json_exists(block, '$.functionResponse') THEN 'tool_call_response'
    WHEN json_exists(block, '$.toolResponse') THEN 'tool_call_response'
    WHEN block ->> '$.type' IN ('tool_result', 'tool-result') THEN 'tool_call_response'
    WHEN json_exists(block, '$.reasoningContent') THEN 'reasoning'
    WHEN block ->> '$.type' IN ('thinking', 'reasoning') THEN 'reasoning'
    WHEN block ->> '$.kind' = 'thinking' THEN 'reasoning'
    WHEN block ->> '$.thought' = 'true' THEN 'reasoning'
    WHEN json_type(block, '$.reasoning') = 'VARCHAR' THEN 'reasoning'
    WHEN block ->> '$.text' IS NOT NULL THEN 'text'
  END,
  'text': coalesce(
    block ->> '$.reasoningContent.reasoningText.text',
    block ->> '$.thinking',
    block ->> '$.text',
    CASE WHEN json_type(block, '$.reasoning') = 'VARCHAR' THEN block ->> '$.reasoning' END,
    block ->> '$.content'
  ),
  'tool_name': coalesce(
    block ->> '$.toolUse.name',
    block ->> '$.name',
    block ->> '$.function.name',
    block ->> '$.toolName',
    block ->> '$.function_call.name',
    block ->> '$.functionCall.name',
    block ->> '$.function_response.name',
    block ->> '$.functionResponse.name',
    block ->> '$.toolRequest.name',
    block ->> '$.toolResponse.name'
  ),
  'call_id': coalesce(
    block ->> '$.toolUse.toolUseId',
    block ->> '$.toolResult.toolUseId',
    block ->> '$.tool_use_id',
    block ->> '$.toolCallId',
    block ->> '$.id',
    block ->> '$.function_call.id',
    block ->> '$.functionCall.id',
    block ->> '$.function_response.id',
    block ->> '$.functionResponse.id',
    block ->> '$.toolRequest.ref',
    block ->> '$.toolResponse.ref'
  ),
  'arguments': coalesce(
    block ->> '$.toolUse.input',
    block ->> '$.input',
    block ->> '$.args',
    block ->> '$.function.arguments',
    block ->> '$.function_call.args',
    block ->> '$.functionCall.args',
    block ->> '$.toolRequest.input',
    stated_nothing(block)
  ),
  'result': coalesce(
    block ->> '$.toolResult.content',
    block ->> '$.output.value',
    block ->> '$.result',
    block ->> '$.content',
    block ->> '$.function_response.response',
    block ->> '$.functionResponse.response',
    block ->> '$.toolResponse.output'
  ),
  'failed': CASE
    WHEN contains(block::VARCHAR, 'rror')
      THEN
        block ->> '$.toolResult.status' = 'error'
        OR block ->> '$.output.type' IN ('error-text', 'error-json')
        OR (
          block ->> '$.type' IN ('tool_result', 'tool-result')
          AND (
            block ->> '$.is_error' = 'true'
            OR block ->> '$.isError' = 'true'
            OR block ->> '$.status' = 'error'
          )
        )
  END
};

-- A part of a message by the GenAI conventions as a block that block_part knows; or as it is.
CREATE OR REPLACE TEMP MACRO genai_block(PART) AS
CASE
if(part ->> '$.builtin' = 'true', concat('builtin_', part ->> '$.type'), part ->> '$.type')
  -- Pydantic AI marks what the provider ran.
  WHEN 'builtin_tool_call'
    THEN json_object(
      'type', 'server_tool_call',
      'id', part ->> '$.id',
      'name', part ->> '$.name',
      'args', part -> '$.arguments'
    )
  WHEN 'builtin_tool_call_response'
    THEN json_object(
      'type', 'server_tool_result',
      'id', part ->> '$.id',
      'name', part ->> '$.name',
      'output', coalesce(part -> '$.result', part -> '$.response'),
      'is_error', part -> '$.is_error'
    )
  WHEN 'text' THEN json_object('text', coalesce(part ->> '$.content', part ->> '$.text'))
  WHEN 'tool_call'
    THEN json_object(
      'type', 'tool_use',
      'id', part ->> '$.id',
      'name', part ->> '$.name',
      'input', part -> '$.arguments'
    )
  WHEN 'tool_call_response'
    THEN json_object(
      'type', 'tool_result',
      'tool_use_id', part ->> '$.id',
      'content', coalesce(part -> '$.response', part -> '$.result'),
      'is_error', coalesce(part -> '$.is_error', part -> '$.isError'),
      'status', part -> '$.status'
    )
  ELSE
    if(
      part ->> '$.type' IN ('reasoning', 'reasoningContent', 'thinking'),
      json_object(
        'type', 'reasoning',
        'text', coalesce(part ->> '$.content.reasoningText.text', part ->> '$.content')
      ),
      part
    )
END;

-- Whether a block or an item is of a tool that the model's provider runs itself.
--
-- OpenAI's Responses have one item for a call and what came of it, Anthropic (`server_tool_use`,
-- `mcp_tool_use`, `…_tool_result`), LangChain (`server_tool_call`, `server_tool_result`) and the
-- GenAI conventions two blocks, Google `executable_code` and `code_execution_result`; Bedrock's
-- `toolUse` has the type `server_tool_use`, Vercel's AI SDK marks blocks as `providerExecuted`,
-- Pydantic AI as `builtin-tool-…`. FALSE for NULL.
CREATE OR REPLACE TEMP MACRO hosted_types() AS
'^(server_tool_(use|call|call_response|result)|mcp_tool_use|\w+_tool_result'
'|(web_search|file_search|code_interpreter|image_generation|mcp|tool_search)_call'
'|mcp_approval_re(quest|sponse)|builtin-tool-(call|return))$';

CREATE OR REPLACE TEMP MACRO is_hosted(BLOCK) AS
coalesce(regexp_matches(block ->> '$.type', hosted_types()), FALSE)
AND block ->> '$.execution' IS DISTINCT FROM 'client'
OR CASE
  WHEN contains(block::VARCHAR, 'xecut')
    THEN
      coalesce(block ->> '$.providerExecuted' = 'true', FALSE)
      OR 'OBJECT' IN (
        json_type(block, '$.executable_code'),
        json_type(block, '$.executableCode'),
        json_type(block, '$.code_execution_result'),
        json_type(block, '$.codeExecutionResult')
      )
  WHEN contains(block::VARCHAR, '"toolUse"')
    THEN coalesce(block ->> '$.toolUse.type' = 'server_tool_use', FALSE)
  WHEN contains(block::VARCHAR, '"builtin-tool-')
    THEN starts_with(block ->> '$.part_kind', 'builtin-tool-')
  ELSE FALSE
END;

-- An object without the keys that are null in the other. NULL of all else.
CREATE OR REPLACE TEMP MACRO without_key(TOLD, NULLS) AS
if(json_type(told) = 'OBJECT', json_merge_patch(told, nulls)::VARCHAR, NULL);

-- What such a block says, as in block_part: its part_type is server_tool_call or
-- server_tool_call_response. A call that tells its result has it beside its arguments; `failed` of
-- it is FALSE where it is told to have ended well, and NULL where nothing is told.
CREATE OR REPLACE TEMP MACRO hosted_part(BLOCK) AS {
  'part_type': CASE
    WHEN
      regexp_matches(
        coalesce(block ->> '$.part_kind', block ->> '$.type'),
        '^(\w+_tool_result|server_tool_(call_response|result)|builtin-tool-return'
        '|tool-(result|error))$'
      )
      OR 'OBJECT' IN (
        json_type(block, '$.code_execution_result'), json_type(block, '$.codeExecutionResult')
      )
      OR block ->> '$.approve' = 'false'
      THEN 'server_tool_call_response'
    -- What was approved is told once it ran.
    WHEN block ->> '$.type' = 'mcp_approval_response' THEN NULL
    ELSE 'server_tool_call'
  END,
  'text': NULL::VARCHAR,
  'tool_name': coalesce(
    block ->> '$.name',
    block ->> '$.toolUse.name',
    block ->> '$.toolName',
    block ->> '$.tool_name',
    regexp_extract(block ->> '$.type', '^(\w+)_call$', 1),
    if(contains(block::VARCHAR, 'xecut'), 'code_execution', NULL)
  ),
  'call_id': coalesce(
    block ->> '$.approval_request_id',
    block ->> '$.tool_use_id',
    block ->> '$.toolUse.toolUseId',
    block ->> '$.tool_call_id',
    block ->> '$.toolCallId',
    block ->> '$.id',
    block ->> '$.executable_code.id',
    block ->> '$.executableCode.id',
    block ->> '$.code_execution_result.id',
    block ->> '$.codeExecutionResult.id'
  ),
  'arguments': coalesce(
    block ->> '$.input',
    block ->> '$.toolUse.input',
    block ->> '$.args',
    block ->> '$.arguments',
    block ->> '$.action',
    block ->> '$.server_tool_call.arguments',
    without_key(json_extract(block, '$.server_tool_call'), '{"type": null}'),
    without_key(
      coalesce(
        json_extract(block, '$.executable_code'), json_extract(block, '$.executableCode')
      ),
      '{"id": null}'
    ),
    CASE
      WHEN block ->> '$.code' IS NOT NULL
        THEN json_object('code', block ->> '$.code')::VARCHAR
      WHEN json_type(block, '$.queries') = 'ARRAY'
        THEN json_object('queries', json_extract(block, '$.queries'))::VARCHAR
    END
  ),
  'result': coalesce(
    block ->> '$.content',
    block ->> '$.output.value',
    block ->> '$.output',
    block ->> '$.outputs',
    block ->> '$.results',
    if(block ->> '$.type' = 'image_generation_call', NULL, block ->> '$.result'),
    block ->> '$.error',
    block ->> '$.server_tool_call_response.response',
    without_key(json_extract(block, '$.server_tool_call_response'), '{"type": null}'),
    block ->> '$.code_execution_result.output',
    block ->> '$.codeExecutionResult.output',
    if(block ->> '$.approve' = 'false', coalesce(block ->> '$.reason', 'denied'), NULL)
  ),
  'failed': CASE
    WHEN
      block ->> '$.status' IN ('failed', 'error', 'incomplete')
      OR 'true' IN (block ->> '$.is_error', block ->> '$.isError')
      OR block ->> '$.type' = 'tool-error'
      OR block ->> '$.output.type' IN ('error-text', 'error-json')
      OR coalesce(json_type(block, '$.error'), 'NULL') <> 'NULL'
      OR ends_with(block ->> '$.content.type', '_error')
      OR ends_with(block ->> '$.output.type', '_error')
      OR try_cast(block ->> '$.content.return_code' AS BIGINT) <> 0
      OR coalesce(
        block ->> '$.code_execution_result.outcome', block ->> '$.codeExecutionResult.outcome'
      ) NOT IN ('OUTCOME_OK', 'OUTCOME_UNSPECIFIED')
      OR block ->> '$.outcome' IN ('failed', 'denied')
      OR block ->> '$.approve' = 'false'
      THEN TRUE
    WHEN block ->> '$.status' IN ('completed', 'success') THEN FALSE
  END
};

-- Whether a text of JSON may hold one.
CREATE OR REPLACE TEMP MACRO tells_hosted(OUTPUT) AS
coalesce(
  regexp_matches(
    output,
    '"(server_tool_(use|call|call_response|result)|mcp_tool_use|\w+_tool_result'
    '|builtin(-tool-\w+)?|executable_?[cC]ode|providerExecuted|mcp_approval_re(quest|sponse)'
    '|(web_search|file_search|code_interpreter|image_generation|mcp|tool_search)_call)"'
  ),
  FALSE
);

-- The id of a call that a provider ran, by how Anthropic's and OpenAI's begin. NULL for NULL.
CREATE OR REPLACE TEMP MACRO is_hosted_id(CALL_ID) AS
split_part(call_id, '_', 1) IN ('srvtoolu', 'mcptoolu', 'ws', 'fs', 'ci', 'ig', 'mcp', 'mcpr');

-- Whether OpenLLMetry names a call of OpenAI's Responses by its item, not by the id of the call,
-- by which its result goes.
CREATE OR REPLACE TEMP MACRO is_item_id(SCOPE_NAME, CALL_ID) AS
coalesce(
  starts_with(call_id, 'fc_')
  AND scope_name IN (
    'opentelemetry.instrumentation.openai', 'opentelemetry.instrumentation.openai.v1'
  ),
  FALSE
);
