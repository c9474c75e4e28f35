-- Texts in which frameworks report that a tool which a model requested does not exist.
--
-- `says_tool_unknown` is true for a result about any tool. `says_tool_not_found` is true for the
-- one form that some write even for tools which they have, `refuses_tool` for the error that ends
-- a run. `langchain_refusal` and `haystack_failure` are the texts that LangChain and Haystack
-- write instead of the named tool's result. `smolagents_refuses` is true for the text of
-- smolagents' code interpreter, also before version 1.10. NULL for NULL.
CREATE OR REPLACE TEMP MACRO says_tool_unknown(RESULT) AS
regexp_matches(
  result,
  '(?i)^\W*([\w.]*error\W+)?'
  '((requested )?(tool|function)\b.{0,100} (not found|does not exist)\b'
  '|(there is )?no (such )?(tool|function)\b|unknown (tool|function)\b'
  '|the tool call with name .{1,100} is not part of the provided tools\b)'
);

CREATE OR REPLACE TEMP MACRO says_tool_not_found(RESULT) AS
regexp_matches(result, '(?i)^\W*(error\W+)?(tool|function)\b.{0,100} not found\b');

CREATE OR REPLACE TEMP MACRO refuses_tool(ERROR_MESSAGE) AS
regexp_matches(
  error_message,
  '(?i)tool.* not found|unknown tool|no such tool|not among the explicitly allowed tools'
);

CREATE OR REPLACE TEMP MACRO langchain_refusal(TOOL) AS
tool || ' is not a valid tool, try one of [';

CREATE OR REPLACE TEMP MACRO smolagents_refuses(OBSERVED, TOOL) AS
contains(
  observed,
  'Forbidden function evaluation: ''' || tool || ''' is not among the explicitly allowed tools'
)
OR (
  contains(observed, 'It is not permitted to evaluate other functions than the provided tools')
  AND contains(observed, '(tried to execute ' || tool || ')')
);

CREATE OR REPLACE TEMP MACRO haystack_failure(TOOL) AS 'Failed to invoke Tool `' || tool || '`';
