-- Phrases of frameworks, whole: a user or a tool that says a part of one is not the framework.
--
-- `task_heading` stands above what smolagents' agents are asked, and `retry_notice` below what it
-- tells a model of a call that failed. `quotes_agent` is true of what opens a message in which
-- Google ADK tells an agent what another one did, or AutoGen that one handed over;
-- `tells_of_agent` of what Google ADK tells there, `is_crew_prompt` of what CrewAI asks for
-- besides its tasks.
CREATE OR REPLACE TEMP MACRO task_heading() AS E'New task:\n';

CREATE OR REPLACE TEMP MACRO retry_notice() AS
'Now let''s retry: take care not to repeat previous errors! '
'If you have retried several times, try a completely different approach.';

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
