-- Outputs of DSPy's agents under headings (`[[ ## next_thought ## ]]`, …), in the ReAct form.
--
-- The tool `finish` does nothing: DSPy requests the answer afterwards. Other text is returned
-- unchanged.
CREATE OR REPLACE TEMP MACRO headings_as_react(TEXT) AS
regexp_replace(
  regexp_replace(
    regexp_replace(
      text,
      '(?s)^\[\[ ## next_thought ## \]\]\s*(.*?)\s*\[\[ ## next_tool_name ## \]\]\s*finish\s*'
      '\[\[ ## next_tool_args ## \]\].*$',
      'Thought: \1' || chr(10) || 'Answer:'
    ),
    '(?s)^\[\[ ## next_thought ## \]\]\s*(.*?)\s*\[\[ ## next_tool_name ## \]\]\s*(.*?)\s*'
    '\[\[ ## next_tool_args ## \]\]\s*(.*?)\s*(\[\[ ## completed ## \]\].*)?$',
    'Thought: \1' || chr(10) || 'Action: \2' || chr(10) || 'Action Input: \3'
  ),
  '(?s)^\[\[ ## reasoning ## \]\]\s*(.*?)\s*\[\[ ## \w+ ## \]\]\s*(.*?)\s*'
  '(\[\[ ## completed ## \]\].*)?$',
  'Thought: \1' || chr(10) || 'Final Answer: \2'
);
