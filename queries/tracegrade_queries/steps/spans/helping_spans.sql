-- Model spans that serve the program around an agent instead of the user, by their own name.
--
-- Copilot Chat writes the purpose of a model call in place of an agent's name: titles, categories,
-- messages of progress and summaries. A call that it repeats has a prefix. The names are those of
-- extensions/copilot in https://github.com/microsoft/vscode, November 2026. OpenHands names the
-- purpose in an attribute, or condenses a history in a span whose name is in the call's path. Its
-- names are those of https://github.com/OpenHands/software-agent-sdk, August 2026.
--
-- Reads:
--   all_spans
--   shapes
-- Needs:
--   shapes WHERE list_has_any(names, ['copilot_chat.request.max_prompt_tokens', 'lmnr.span.path'])
-- Columns:
--   key  BIGINT  One row each.
-- Order:
--   none
WITH naming AS (
  SELECT shape
  FROM shapes
  WHERE list_has_any(names, ['copilot_chat.request.max_prompt_tokens', 'lmnr.span.path'])
)

SELECT key
FROM all_spans
WHERE
  shape IN (SELECT naming.shape FROM naming)
  AND (
    (
      attributes['copilot_chat.request.max_prompt_tokens'] IS NOT NULL
      AND regexp_matches(
        attributes['gen_ai.agent.name'],
        '^(retry-((server-)?error-)?)?(title|promptCategorization|progressMessages'
        || '|contextualProgressMessage|summarize(ConversationHistory)?(-.*)?)$'
      )
    )
    OR attributes['lmnr.association.properties.metadata.openhands.operation'] IS NOT NULL
    OR regexp_matches(attributes['lmnr.span.path'], '"(get_condensation|hard_context_reset)"')
  );
