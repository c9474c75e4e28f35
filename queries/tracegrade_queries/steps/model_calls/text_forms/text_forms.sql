-- Texts that may have the form of a framework, with that form.
--
-- A text is split only if its span requests tools in no other way.
--
-- Reads:
--   code_texts
--   form_candidates
--   opening_texts
--   quoted_messages
--   sent_parts
--   smolagents_inputs
-- Needs:
--   form_candidates
-- Columns:
--   key               BIGINT   Model span.
--   direction         VARCHAR  in | out.
--   message_position  BIGINT
--   part_position     BIGINT
--   role              VARCHAR
--   part_type         VARCHAR
--   text              VARCHAR
--   tool_name         VARCHAR
--   call_id           VARCHAR
--   arguments         VARCHAR
--   result            VARCHAR
--   failed            BOOLEAN
--   thought           VARCHAR  The text before the code; NULL if it holds none.
--   code              VARCHAR  NULL if it holds none.
--   form              VARCHAR  plain | prompt (of the framework, in the user's name) | action |
--                              answer | observation | code | task | headings.
-- Order:
--   none
WITH requesting AS (
  SELECT DISTINCT key
  FROM sent_parts
  WHERE direction = 'out' AND part_type = 'tool_call'
)

SELECT
  candidates.key,
  candidates.direction,
  candidates.message_position,
  candidates.part_position,
  candidates.role,
  candidates.part_type,
  candidates.text,
  candidates.tool_name,
  candidates.call_id,
  candidates.arguments,
  candidates.result,
  candidates.failed,
  code_texts.thought,
  code_texts.code,
  CASE
    WHEN
      candidates.direction = 'in'
      AND starts_with(candidates.text, '[[ ## ')
      AND contains(candidates.text, '[[ ## trajectory ## ]]')
      THEN 'headings'
    WHEN
      candidates.direction = 'in'
      AND candidates.role = 'user'
      AND candidates.part_type = 'text'
      AND (
        -- A conversation opens with words of the user's own.
        (
          starts_with(candidates.text, 'Observation:')
          AND candidates.message_position > opening_texts.message_position
        )
        OR (
          contains(candidates.text, retry_notice())
          AND regexp_matches(candidates.text, '^(Call id: \S*\s+)?Error:')
        )
      )
      THEN 'observation'
    WHEN
      candidates.key IN (FROM smolagents_inputs)
      AND candidates.direction = 'in'
      AND candidates.role = 'user'
      AND candidates.part_type = 'text'
      THEN if(starts_with(candidates.text, task_heading()), 'task', 'prompt')
    WHEN
      (candidates.key, candidates.message_position) IN (FROM quoted_messages)
      AND candidates.direction = 'in'
      AND candidates.role = 'user'
      AND candidates.part_type = 'text'
      THEN 'prompt'
    WHEN
      candidates.direction = 'in'
      AND candidates.role = 'user'
      AND is_crew_prompt(candidates.text)
      THEN 'prompt'
    WHEN NOT candidates.is_output_text OR candidates.key IN (FROM requesting) THEN 'plain'
    WHEN code_texts.text IS NOT NULL THEN 'code'
    WHEN
      regexp_matches(candidates.text, 'Action:[^\n]*\n\s*Action Input:')
      OR json_action(candidates.text) IS NOT NULL
      THEN 'action'
    WHEN
      regexp_matches(
        candidates.text, '(?s)^\s*(Thought:.*)?Final Answer:|^\s*Thought:.*\n\s*Answer:'
      )
      THEN 'answer'
    ELSE 'plain'
  END AS form
FROM form_candidates AS candidates
LEFT JOIN opening_texts USING (key)
LEFT JOIN code_texts ON candidates.is_output_text AND candidates.text = code_texts.text
WHERE
  NOT (candidates.is_output_text AND coalesce(is_printed_object(candidates.text), FALSE));
