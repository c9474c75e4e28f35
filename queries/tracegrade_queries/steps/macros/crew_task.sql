-- The user's request, without the words that CrewAI adds for its models and agents.
--
-- A task is its description. The expected answer, the results of other tasks and CrewAI's memory
-- come after it. Any other text is returned unchanged.
CREATE OR REPLACE TEMP MACRO crew_task(TEXT) AS
CASE
  WHEN contains(text, ' criteria for your final answer: ')
    THEN
      regexp_replace(
        text,
        '(?s)^\s*(?:Current Task: )?(.*?)\s*\n'
        'This is the expect(?:ed)? criteria for your final answer: .*$',
        '\1'
      )
  WHEN starts_with(text, E'\nCurrent Task: ')
    THEN
      regexp_extract(
        text,
        '(?s)^\s*Current Task: (.*?)\s*'
        '(?:\nBegin! This is VERY important to you.*|\nProvide your complete response:\s*)?$',
        1
      )
  ELSE text
END;
