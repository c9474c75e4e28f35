-- {} if a call states null arguments, or if Google leaves out empty ones; otherwise NULL.
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

-- A content block of a model provider's message, as a message part.
--
-- Reads the blocks of OpenAI (`text`, `input_text`, `output_text`, `function`), Anthropic (`text`,
-- `thinking`, `tool_use`, `tool_result`), Vercel's AI SDK (`text`, `reasoning`, `tool-call`,
-- `tool-result`), Bedrock (`text`, `reasoningContent`, `toolUse`, `toolResult`), Google (`text`
-- with `thought`, `function_call`, `function_response`) and Pydantic AI (`kind`). Returns
-- STRUCT(part_type, text, tool_name, call_id, arguments, result, all VARCHAR, and failed BOOLEAN:
-- a result's block states that the call failed). part_type is NULL for any other block.
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

-- A message part of the GenAI conventions as a block that block_part can read, or unchanged.
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
