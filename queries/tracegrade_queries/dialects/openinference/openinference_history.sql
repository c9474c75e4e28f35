-- Inputs and outputs that are chats, for history_chat.
--
-- Reads:
--   openinference_attributes
-- Order:
--   none
CREATE OR REPLACE TEMP VIEW openinference_history AS
SELECT
  key,
  'in' AS direction,
  1 AS position,
  'user' AS role,
  input_value AS text
FROM openinference_attributes
UNION ALL
SELECT
  key,
  'out' AS direction,
  1 AS position,
  'assistant' AS role,
  -- Outputs of Bedrock, Gemini and LlamaIndex; other outputs are read as sent.
  coalesce(
    answer ->> '$.output.message',
    CASE
      WHEN json_exists(answer, '$.candidates[0].content.parts')
        THEN json_object('content', answer -> '$.candidates[0].content.parts')::VARCHAR
      WHEN json_type(answer, '$.message.blocks') = 'ARRAY'
        THEN json_object('content', llama_index_content(answer -> '$.message.blocks'))::VARCHAR
    END,
    output_value
  ) AS text
FROM openinference_attributes
WHERE json_type(answer, '$.output') IS DISTINCT FROM 'ARRAY';
