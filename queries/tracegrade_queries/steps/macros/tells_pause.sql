-- Whether the JSON of an output stops for an approval, an answer or a result.
--
-- It reads LangGraph's `__interrupt__`, approval requests of the Vercel AI SDK, OpenAI and the
-- Agent Framework, and interruptions of OpenAI Agents. It also reads finish reasons of Genkit and
-- Strands, ADK's requests, Mastra's suspended runs, and Agno's words.
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

-- Whether a tool's result is the one that Google ADK returns until a user confirms the call.
CREATE OR REPLACE TEMP MACRO waits_for_confirmation(RESULT) AS
coalesce(
  contains(result, 'This tool call requires confirmation, please approve or reject.'), FALSE
);
