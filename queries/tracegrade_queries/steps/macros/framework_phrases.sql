-- Phrases of frameworks, in full: a user or a tool that writes a part of one is not the framework.
--
-- `task_heading` precedes the request to agents of smolagents; `retry_notice` follows the error of
-- a call that it sends to a model. `quotes_agent` is true for the beginning of a message in which
-- Google ADK reports another agent's work, or AutoGen a hand-over. `tells_of_agent` is true for
-- the report in ADK's message, `is_crew_prompt` for requests of CrewAI other than its tasks.
CREATE OR REPLACE TEMP MACRO task_heading() AS E'New task:\n';

CREATE OR REPLACE TEMP MACRO retry_notice() AS
'Now let''s retry: take care not to repeat previous errors! '
'If you have retried several times, try a completely different approach.';

-- Whether smolagents reports an error, after the text that was printed before it.
CREATE OR REPLACE TEMP MACRO asks_to_retry(TEXT) AS
coalesce(
  contains(text, retry_notice()) AND regexp_matches(text, '(^|\n)(Call id: \S*\s+)?Error:\n'),
  FALSE
);

-- The call that a text ends with as smolagents asks models without tool calls to write it:
-- `Action: {"name": …, "arguments": …}`. NULL if there is none.
CREATE OR REPLACE TEMP MACRO json_action(TEXT) AS
CASE
  WHEN regexp_matches(text, 'Action:\s*\{\s*"name":')
    THEN try_cast(regexp_extract(text, '(?s)Action:\s*(\{\s*"name":.*\})', 1) AS JSON)
END;

-- Whether a model's instructions let it play the user: those of τ-bench and τ²-bench.
CREATE OR REPLACE TEMP MACRO plays_user(TEXT) AS
regexp_matches(
  text,
  '^\s*(# ?([\w-]+ )?User Simulation Guidelines\b|You are a user interacting with an agent\.'
  '|You are playing the role of an? (\w+ ){1,3}contacting an? (\w+ ){1,4}representative\b)'
);

CREATE OR REPLACE TEMP MACRO quotes_agent(TEXT) AS
starts_with(text, 'For context: below is a transcript of what another agent did')
OR (
  starts_with(text, 'Transferred to ')
  AND regexp_matches(text, '^Transferred to .+, adopting the role of .+ immediately\.$')
);

CREATE OR REPLACE TEMP MACRO tells_of_agent(TEXT) AS
regexp_matches(text, '^\[[^\]\n]+\] (said: |called tool `|`[^`\n]+` tool returned result:)');

CREATE OR REPLACE TEMP MACRO is_crew_prompt(TEXT) AS
starts_with(text, 'Now it''s time you MUST give your absolute best final answer.')
OR starts_with(text, 'Analyze the tool result. If requirements are met, ');

-- Whether instructions, or a user's message, make a model call one that serves the program around
-- an agent.
--
-- `instructs_to_serve` reads system or developer messages. `asks_to_serve` reads a message with
-- the role user, since programs send such prompts too. The message must hold the material (a
-- transcript, a text to judge), or begin as only prompts of programs do. The forms are those of
-- Open WebUI, LibreChat, Llama Guard, NeMo Guardrails, Mem0, LangChain, LangMem, Claude Code,
-- Codex and OpenHands. Both look for the request in the first 500 characters; FALSE for NULL.
CREATE OR REPLACE TEMP MACRO names_or_sums_up(TEXT) AS
regexp_matches(
  text,
  '(?is)\b(generate|create|write|suggest|provide|give|produce)\b[^.!?]{0,60}\b(title|name)\b'
  || '([^.!?]{0,60}\b(conversation|chat|session|thread)\b|[.!?]?\s*$)'
  || '|\b(summari[sz]e|summary of)\b[^.!?]{0,40}\b(conversation|chat|session|thread)\b'
  || '|\b(classify|decide|check|judge|determine)\b[^.!?]{0,80}'
  || '\b(unsafe|jailbreak|prompt injection|moderation)\b'
  || '|\b(formulate|rephrase|reformulate|rewrite|condense)\b[^.!?]{0,100}\bstandalone\b'
  || '|^\s*you are a personal information organizer\b'
  || '|^\s*you are a smart memory manager\b'
);

CREATE OR REPLACE TEMP MACRO instructs_to_serve(TEXT) AS
coalesce(names_or_sums_up(text[1:500]), FALSE);

CREATE OR REPLACE TEMP MACRO asks_to_serve(TEXT) AS
CASE
  WHEN
    NOT regexp_matches(
      text[1:500],
      '(?i)title|summar|\btags?\b|unsafe|jailbreak|complies|standalone|follow-up|quer(y|ies)'
      || '|compaction|context extraction|facts|memor(y|ies)|emoji'
    )
    THEN FALSE
  -- Requests that only programs make.
  WHEN
    regexp_matches(
      text[1:500],
      '(?is)^\s*(your task is to create a (detailed )?summary of (the|this|our) conversation'
      || '|you are performing a context checkpoint compaction'
      || '|you are maintaining a context-aware state summary'
      || '|<role>\s*context extraction assistant'
      || '|(create|extend|update)\b[^.!?:]{0,30}\bsummary\b[^.!?:]{0,60}:\s*$'
      || '|this is (a )?summary of the conversation (so far|to date):)'
    )
    THEN TRUE
  ELSE
    (
      names_or_sums_up(text[1:500])
      OR regexp_matches(
        text[1:500],
        '(?is)^\s*### task:\s'
        || '|\b(generate|suggest|create|write)\b[^.!?]{0,80}\b(follow-up|tags?|search queries)\b'
        || '|\bcheck\b[^.!?]{0,60}\b(unsafe|complies)\b'
        || '|\bextract\b[^.!?]{0,80}\b(facts|memories|preferences)\b'
      )
    )
    -- A transcript, or a text to judge.
    AND regexp_matches(
      text,
      '(?im)<(chat_history|conversation|transcript|messages)>|\bBEGIN (CONVERSATION|UNSAFE)\b'
      || '|^\W*(chat history|conversation( history)?|messages to summarize)\W*$'
      || '|^\W*(user|human|assistant|ai|bot)( message| response)?\W{0,3}:'
    )
END;
