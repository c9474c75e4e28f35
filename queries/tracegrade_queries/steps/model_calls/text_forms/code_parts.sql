-- Thoughts, code and tool calls in texts that code agents wrote.
--
-- Functions that earlier code of the run defined are not tools.
--
-- Reads:
--   code_calls
--   code_names
--   operations
--   operation_runs
--   text_forms
-- Needs:
--   text_forms WHERE form = 'code'
-- Columns:
--   key               BIGINT   Model span.
--   direction         VARCHAR  in | out.
--   message_position  BIGINT
--   part_position     BIGINT
--   role              VARCHAR
--   part_type         VARCHAR  reasoning | tool_call | code.
--   text              VARCHAR  Reasoning and code only.
--   tool_name         VARCHAR  Tool calls only.
--   arguments         VARCHAR  Tool calls only.
-- Order:
--   none
WITH coded AS (
  SELECT
    text_forms.*,
    operation_runs.run,
    operations.start_ns
  FROM text_forms
  INNER JOIN operations USING (key)
  INNER JOIN operation_runs USING (key)
  WHERE text_forms.form = 'code'
),

definitions AS (
  SELECT
    coded.run,
    code_names.name,
    min(coded.start_ns) AS start_ns
  FROM coded
  INNER JOIN code_names USING (code)
  GROUP BY coded.run, code_names.name
)

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
FROM coded;
