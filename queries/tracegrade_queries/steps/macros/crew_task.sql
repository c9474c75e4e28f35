-- What the user asked, without the words in which CrewAI puts it to its models and agents.
--
-- A task is its description; what is expected of its answer, the results of other tasks and
-- what it remembers follow. Any other text stays as it is.
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
