-- Whether the error that ended a run reports a limit of its framework.
--
-- The limits are of turns, steps, calls, tokens or time. A provider's rate limit and a request
-- timeout do not count. The exceptions are those of OpenAI Agents (MaxTurnsExceeded), LangGraph
-- (GraphRecursionError), Pydantic AI (UsageLimitExceeded), smolagents (AgentMaxStepsError), Google
-- ADK (LlmCallsLimitExceededError), Strands (MaxTokensReachedException), LlamaIndex
-- (WorkflowTimeoutError, "Max iterations of N reached"), Haystack (PipelineMaxComponentRuns), the
-- OpenAI client (LengthFinishReasonError, context_length_exceeded), LiteLLM
-- (ContextWindowExceededError), and the results of the Claude Agent SDK (error_max_turns).
--
-- error_type, error_message: the span's values; NULL if it has none.
CREATE OR REPLACE TEMP MACRO tells_limit(ERROR_TYPE, ERROR_MESSAGE) AS
regexp_matches(
  lower(concat_ws(' ', error_type, error_message)),
  'maxturnsexceeded|graphrecursionerror|usagelimitexceeded|agentmaxstepserror'
  || '|llmcallslimitexceeded|maxtokensreached|workflowtimeouterror|pipelinemaxcomponentruns'
  || '|lengthfinishreasonerror|context_length_exceeded|contextwindow(exceeded|overflow)'
  || '|error_max_(turns|budget)'
  || '|max(imum)?[ _]?(number of )?(turns|steps|iterations|llm calls)\b.{0,40}(reached|exceeded)'
  || '|(reached|exceeded) (the )?max(imum)? (number of )?(turns|steps|iterations|llm calls)'
  || '|recursion limit of \d+ reached'
);
