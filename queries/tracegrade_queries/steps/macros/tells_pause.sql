-- Whether the JSON of an output tells that it stops for an approval, an answer or a result:
-- LangGraph's `__interrupt__`, requests for approvals of the Vercel AI SDK, OpenAI and the Agent
-- Framework, OpenAI Agents' interruptions, Genkit's and Strands' reasons to finish, and what ADK
-- requests; that a run of Mastra is suspended; and the words of Agno.
CREATE OR REPLACE TEMP MACRO tells_pause(OUTPUT) AS
coalesce(
  regexp_matches(output, '^\{"status":\s*"suspended",\s*"reason":\s*"tool-call-')
  OR regexp_matches(output, '^I have tools to execute, but (I need|it needs) [a-z, ]+\.$')
  OR (contains(output, 'nterrupt') OR contains(output, '_request') OR contains(output, '-request'))
  AND regexp_matches(
    output,
    '"__interrupt__":\s*[\[({"]\s*[^\s\])]'
    || '|"type":\s*"(tool-approval-request|(function|mcp)_approval_request)"'
    || '|"interruptions":\s*\[\s*\{'
    || '|"(finishReason|finish_reason|stop_reason|stopReason)":\s*"interrupt(ed)?"'
    || '|"name":\s*"adk_request_(confirmation|credential|input)"'
  ),
  FALSE
);

-- Whether a tool's result is what Google ADK returns until a user confirmed the call.
CREATE OR REPLACE TEMP MACRO waits_for_confirmation(RESULT) AS
coalesce(
  contains(result, 'This tool call requires confirmation, please approve or reject.'), FALSE
);
