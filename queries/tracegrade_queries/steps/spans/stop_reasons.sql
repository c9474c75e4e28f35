-- Why a model stopped, from its span: to call tools, or for another reason.
--
-- `tool_calls` and `function_call` are OpenAI's words, `tool_use` is Anthropic's and Bedrock's,
-- `tool-calls` the Vercel AI SDK's, `tool_call` that of the GenAI conventions. Google's and
-- Ollama's models also stop with `stop` when they call tools, so that value does not count.
--
-- Reads:
--   all_spans
--   shapes
-- Columns:
--   key        BIGINT   One row each; spans that tell no reason have none.
--   for_tools  BOOLEAN  It stopped to call tools.
-- Order:
--   none
WITH telling AS (
  SELECT shape
  FROM shapes
  WHERE
    list_has_any(
      names,
      [
        'gen_ai.response.finish_reasons', 'gen_ai.response.finish_reason',
        'gen_ai.completion.0.finish_reason', 'gen_ai.output.messages', 'llm.finish_reason',
        'llm.response.finish_reason', 'llm.response.stop_reason', 'ai.response.finishReason',
        'stop_reason'
      ]
    )
),

stated_reasons AS (
  SELECT
    key,
    coalesce(
      regexp_matches(
        coalesce(
          attributes['gen_ai.provider.name'],
          attributes['gen_ai.system'],
          attributes['llm.provider'],
          attributes['ai.model.provider'],
          scope_name
        ),
        '(?i)^gcp\.|google|gemini|vertex|ollama'
      ),
      FALSE
    ) AS always_stops,
    coalesce(
      nullif(nullif(finish_reasons, '[]'), '[""]'),
      attributes['gen_ai.response.finish_reason'],
      attributes['gen_ai.completion.0.finish_reason'],
      attributes['llm.finish_reason'],
      attributes['llm.response.finish_reason'],
      attributes['llm.response.stop_reason'],
      attributes['ai.response.finishReason'],
      attributes['stop_reason'],
      nullif(
        regexp_extract(
          attributes['gen_ai.output.messages'], '"finish_reason":\s*"([a-zA-Z_-]+)"', 1
        ),
        ''
      )
    ) AS reason
  FROM all_spans
  WHERE shape IN (SELECT telling.shape FROM telling)
)

SELECT
  key,
  regexp_matches(
    reason, '(?i)(^|[^a-z_-])(tool[_-]?(calls?|use)|function[_-]?call)([^a-z_-]|$)'
  ) AS for_tools
FROM stated_reasons
WHERE
  reason <> ''
  AND NOT (
    always_stops AND regexp_matches(reason, '(?i)^[^a-z]*(finish_?reason\.)?stop[^a-z]*$')
  );
