-- Spans that wait for a person or another system: an approval, an answer, a result from elsewhere.
--
-- Frameworks pause with an exception that does not mean a failure, and report the pause in the
-- agent's output. `is_pause` and `tells_pause` list the names that the sources of LangGraph,
-- Pydantic AI, Strands, Genkit, LlamaIndex, the Agent Framework, CrewAI, ADK, Haystack, Mastra,
-- Agno and Restate use. OpenAI's Agents SDK ends the span of a tool that waits for an approval
-- well, and without an output; earlier versions print the waiting call there.
--
-- Reads:
--   all_spans
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
        'ai.response.finishReason',
        'langfuse.observation.status_message', 'gcp.vertex.agent.tool_response',
        'gcp.vertex.agent.event_id', 'mastra.span.type'
      ]
    )
)

SELECT key
FROM all_spans
WHERE
  (
    failed
    AND (
      is_pause(attributes['error.type'])
      OR is_pause(exception['exception.type'])
      OR is_pause(regexp_extract(status_message, '^[\w.]+'))
      -- LangSmith writes an exception as its repr.
      OR is_pause(regexp_extract(exception['exception.message'], '^[\w.]+'))
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
      OR (
        attributes['mastra.span.type'] = 'agent_run'
        AND tells_pause(
          coalesce(attributes['mastra.agent_run.output'], attributes['output'])
        )
      )
      -- LangGraph's, for which Langfuse records no type.
      OR starts_with(attributes['langfuse.observation.status_message'], '(Interrupt(')
      OR waits_for_confirmation(attributes['gcp.vertex.agent.tool_response'])
      OR (
        attributes['gcp.vertex.agent.event_id'] IS NOT NULL
        AND waits_for_confirmation(attributes['gen_ai.tool.call.result'])
      )
      -- Pydantic AI's output of a run that was deferred.
      OR starts_with(attributes['final_result'], '{"calls":[')
    )
  )
  OR (
    scope_name IN (
      'openinference.instrumentation.openai_agents', 'logfire.openai_agents',
      'opentelemetry.instrumentation.openai_agents',
      'opentelemetry.instrumentation.genai.openai_agents'
    )
    AND ended
    AND NOT failed
    AND NOT dropped
    AND coalesce(
      CASE WHEN attributes['openinference.span.kind'] = 'TOOL' THEN attributes['input.value'] END,
      CASE
        WHEN starts_with(attributes['logfire.msg_template'], 'Function:') THEN attributes['input']
      END,
      CASE
        WHEN
          attributes['gen_ai.operation.name'] = 'execute_tool'
          OR attributes['traceloop.span.kind'] = 'tool'
          THEN attributes['gen_ai.tool.call.arguments']
      END
    ) IS NOT NULL
    AND regexp_matches(
      coalesce(
        attributes['output.value'],
        attributes['gen_ai.tool.call.result'],
        nullif(attributes['output'], 'null'),
        ''
      ),
      '^$|^FunctionToolResult\(.*ToolApprovalItem\('
    )
  );
