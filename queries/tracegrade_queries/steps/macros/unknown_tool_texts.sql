-- Texts by which frameworks say that a tool which a model asked for does not exist.
--
-- `says_tool_unknown` is true of a result that is about any tool, `says_tool_not_found` of the one
-- form that some give for tools which they have, too, `refuses_tool` of the error with which a run
-- ends. `langchain_refusal` and `haystack_failure` are what LangChain and Haystack write in place
-- of the named tool's result; `smolagents_refuses` is true of what smolagents' interpreter of code
-- writes, in versions before 1.10 too. NULL for NULL.
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
