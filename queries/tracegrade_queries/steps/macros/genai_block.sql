-- A part of a message by the GenAI conventions as a block that block_part knows; or as it is.
CREATE OR REPLACE TEMP MACRO genai_block(PART) AS
CASE part ->> '$.type'
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
