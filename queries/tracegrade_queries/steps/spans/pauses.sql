-- Spans that say that they wait for somebody: an approval, an answer, a result from elsewhere.
--
-- Frameworks pause with an exception that is no failure, and tell so in what an agent returns.
-- Those of LangGraph, Pydantic AI, Strands, Genkit, LlamaIndex, the Agent Framework, CrewAI and
-- ADK are named in `is_pause` and `tells_pause`, as their sources name them.
--
-- Reads:
--   bucket_spans
--   shapes
-- Columns:
--   key  BIGINT  One row each.
-- Order:
--   none
WITH telling AS (
  SELECT shape
  FROM shapes
  WHERE
    list_has_any(
      names,
      [
        'pydantic_ai.tool.deferral.name', 'final_result', 'output.value', 'gen_ai.completion',
        'traceloop.entity.output', 'gen_ai.output.messages', 'genkit:output',
        'langfuse.observation.output', 'gen_ai.response.finish_reasons',
        'ai.response.finishReason', 'ai.response.content'
      ]
    )
)

SELECT key
FROM bucket_spans
WHERE
  (
    failed
    AND (
      is_pause(attributes['error.type'])
      OR is_pause(exception['exception.type'])
      OR is_pause(regexp_extract(status_message, '^[\w.]+'))
    )
  )
  OR (
    shape IN (SELECT telling.shape FROM telling)
    AND (
      attributes['pydantic_ai.tool.deferral.name'] IS NOT NULL
      OR regexp_matches(finish_reasons, '(?i)"(interrupt|suspended)"')
      OR regexp_matches(attributes['ai.response.finishReason'], '(?i)^(interrupt|suspended)$')
      OR tells_pause(attributes['output.value'])
      OR tells_pause(attributes['traceloop.entity.output'])
      OR tells_pause(attributes['gen_ai.completion'])
      OR tells_pause(attributes['gen_ai.output.messages'])
      OR tells_pause(attributes['langfuse.observation.output'])
      OR tells_pause(attributes['genkit:output'])
      OR tells_pause(attributes['ai.response.content'])
      -- Pydantic AI's output of a run that was deferred.
      OR starts_with(attributes['final_result'], '{"calls":[')
    )
  );
