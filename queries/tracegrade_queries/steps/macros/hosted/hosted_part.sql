-- Google's call of its own tool, or the result; both name the tool's type.
CREATE OR REPLACE TEMP MACRO google_use(BLOCK) AS
CASE
  WHEN json_exists(block, '$.toolCall.toolType') THEN block -> '$.toolCall'
  WHEN json_exists(block, '$.tool_call.tool_type') THEN block -> '$.tool_call'
  WHEN json_exists(block, '$.toolResponse.toolType') THEN block -> '$.toolResponse'
  WHEN json_exists(block, '$.tool_response.tool_type') THEN block -> '$.tool_response'
END;

-- A tool's name in a request to Google: its types distinguish searches in pages and in images.
CREATE OR REPLACE TEMP MACRO requested_tool(NAME) AS
regexp_replace(name, '^google_search_(web|image)$', 'google_search');

-- Whether a block or an item is of a tool that the model's provider runs itself.
--
-- OpenAI's Responses have one item for a call and its result, Anthropic (`server_tool_use`,
-- `mcp_tool_use`, `…_tool_result`), LangChain (`server_tool_call`, `server_tool_result`) and the
-- GenAI conventions two blocks, Google `executable_code` and `code_execution_result`; Bedrock's
-- `toolUse` has the type `server_tool_use`, Vercel's AI SDK marks blocks as `providerExecuted`,
-- Pydantic AI as `builtin-tool-…`. Google's Interactions have two steps for a call, its other API
-- `toolCall` and `toolResponse` with a `toolType`. FALSE for NULL.
CREATE OR REPLACE TEMP MACRO hosted_types() AS
'^(server_tool_(use|call|call_response|result)|mcp_tool_use|\w+_tool_result'
'|(web_search|file_search|code_interpreter|image_generation|mcp|tool_search)_call'
'|(google_search|google_maps|url_context|code_execution|retrieval|mcp_server_tool)_call'
'|(google_search|google_maps|url_context|code_execution|retrieval|file_search)_result'
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
  WHEN contains(block::VARCHAR, '"toolType"') OR contains(block::VARCHAR, '"tool_type"')
    THEN google_use(block) IS NOT NULL
  ELSE FALSE
END;

-- An object without the keys that are null in the other; otherwise NULL.
CREATE OR REPLACE TEMP MACRO without_key(PART, NULLS) AS
if(json_type(part) = 'OBJECT', json_merge_patch(part, nulls)::VARCHAR, NULL);

-- The fields of such a block, as in block_part: its part_type is server_tool_call or
-- server_tool_call_response. A call that includes its result has it together with its arguments.
-- `failed` is FALSE if the block states success, and NULL if it states no outcome.
CREATE OR REPLACE TEMP MACRO hosted_part(BLOCK) AS {
  'part_type': CASE
    WHEN
      regexp_matches(
        coalesce(block ->> '$.part_kind', block ->> '$.type'),
        '^(\w+_tool_result|server_tool_(call_response|result)|builtin-tool-return'
        '|(google_search|google_maps|url_context|code_execution|retrieval|file_search)_result'
        '|tool-(result|error))$'
      )
      OR 'OBJECT' IN (
        json_type(block, '$.code_execution_result'), json_type(block, '$.codeExecutionResult')
      )
      OR json_exists(block, '$.toolResponse.toolType')
      OR json_exists(block, '$.tool_response.tool_type')
      OR block ->> '$.approve' = 'false'
      THEN 'server_tool_call_response'
    -- An approved call is recorded when it runs.
    WHEN block ->> '$.type' = 'mcp_approval_response' THEN NULL
    ELSE 'server_tool_call'
  END,
  'text': NULL::VARCHAR,
  'tool_name': coalesce(
    requested_tool(block ->> '$.name'),
    block ->> '$.toolUse.name',
    block ->> '$.toolName',
    block ->> '$.tool_name',
    regexp_extract(block ->> '$.type', '^(\w+)_call$', 1),
    requested_tool(
      lower(coalesce(google_use(block) ->> '$.toolType', google_use(block) ->> '$.tool_type'))
    ),
    if(contains(block::VARCHAR, 'xecut'), 'code_execution', NULL)
  ),
  'call_id': coalesce(
    block ->> '$.approval_request_id',
    if(ends_with(block ->> '$.type', '_result'), block ->> '$.call_id', NULL),
    block ->> '$.tool_use_id',
    block ->> '$.toolUse.toolUseId',
    block ->> '$.tool_call_id',
    block ->> '$.toolCallId',
    block ->> '$.id',
    block ->> '$.executable_code.id',
    block ->> '$.executableCode.id',
    block ->> '$.code_execution_result.id',
    block ->> '$.codeExecutionResult.id',
    google_use(block) ->> '$.id'
  ),
  'arguments': coalesce(
    block ->> '$.input',
    block ->> '$.toolUse.input',
    block ->> '$.args',
    block ->> '$.arguments',
    block ->> '$.action',
    google_use(block) ->> '$.args',
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
    block ->> '$.server_tool_call_response.output',
    block ->> '$.server_tool_call_response.result',
    without_key(json_extract(block, '$.server_tool_call_response'), '{"type": null}'),
    block ->> '$.code_execution_result.output',
    block ->> '$.codeExecutionResult.output',
    google_use(block) ->> '$.response',
    if(block ->> '$.approve' = 'false', coalesce(block ->> '$.reason', 'denied'), NULL)
  ),
  'failed': CASE
    WHEN
      block ->> '$.status' IN ('failed', 'error', 'incomplete')
      OR 'true' IN (
        block ->> '$.is_error',
        block ->> '$.isError',
        block ->> '$.server_tool_call_response.is_error'
      )
      OR block ->> '$.type' = 'tool-error'
      OR block ->> '$.output.type' IN ('error-text', 'error-json')
      OR coalesce(json_type(block, '$.error'), 'NULL') <> 'NULL'
      OR ends_with(block ->> '$.content.type', '_error')
      OR ends_with(block ->> '$.output.type', '_error')
      OR try_cast(block ->> '$.content.return_code' AS BIGINT) <> 0
      OR coalesce(
        block ->> '$.code_execution_result.outcome',
        block ->> '$.codeExecutionResult.outcome',
        block ->> '$.server_tool_call_response.outcome'
      ) NOT IN ('OUTCOME_OK', 'OUTCOME_UNSPECIFIED')
      OR block ->> '$.outcome' IN ('failed', 'denied')
      OR block ->> '$.approve' = 'false'
      THEN TRUE
    WHEN block ->> '$.status' IN ('completed', 'success') THEN FALSE
  END
};
