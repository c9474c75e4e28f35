-- Spans that at least one dialect recognizes, with their fields coalesced over the dialects.
--
-- Reads:
--   bucket_spans
--   dialect_operations
--   function_spans
--   pauses
--   salvaged_events
--   stated_failures
-- Columns:
--   key                 BIGINT   One row each.
--   trace_id            VARCHAR
--   span_id             VARCHAR
--   parent_span_id      VARCHAR
--   trace_state         VARCHAR
--   scope_name          VARCHAR  '' if none was sent.
--   service_name        VARCHAR
--   release             VARCHAR
--   environment         VARCHAR
--   start_ns            BIGINT
--   end_ns              BIGINT
--   ended               BOOLEAN  An end was sent.
--   dropped             BOOLEAN  The exporter dropped attributes or events of it.
--   operation           VARCHAR  As the strongest dialect that knows says; 'other' if none does.
--   dialect             VARCHAR  That dialect.
--   agent_name          VARCHAR
--   agent_label         VARCHAR
--   follows             VARCHAR  Agent after whose work that of an agent span began.
--   tool_name           VARCHAR
--   call_id             VARCHAR
--   arguments           VARCHAR
--   result              VARCHAR
--   from_log            BOOLEAN  It was made from a reply in a message log, which may lack others.
--   content             VARCHAR
--   plan                VARCHAR
--   user_input          VARCHAR
--   answer              VARCHAR
--   failed              BOOLEAN  True if the span's own status or a dialect reports a failure; for
--                                a tool also if its exit code or type of error does.
--   paused              BOOLEAN  It waits for a person or another system; this is not a failure.
--   error_type          VARCHAR
--   error_message       VARCHAR
--   model               VARCHAR
--   input_tokens        BIGINT   Includes cached tokens, also if the source counts them
--                                separately; NULL if the source states no tokens at all for an
--                                answer.
--   output_tokens       BIGINT   Likewise.
--   cache_read_tokens   BIGINT
--   reasoning_tokens    BIGINT
--   cache_write_tokens  BIGINT
--   ambiguous_tokens    BOOLEAN  Whether the input count includes cached tokens is not known.
--   stated_usd          DOUBLE
--   offered_tools       VARCHAR
--   conversation_id     VARCHAR
--   effect              VARCHAR
--   cost                DOUBLE
--   tells_calls         BOOLEAN  An agent's span represents all its model calls.
--   linked_span_id      VARCHAR
--   process_order       BIGINT   0 if not sent.
--   sub_goal            VARCHAR
--   decision            VARCHAR
--   task_id             VARCHAR
--   task_category       VARCHAR
--   trial               INTEGER
--   retries             INTEGER
--   run_mode            VARCHAR
--   outcome             VARCHAR
--   kill_point          VARCHAR
--   flags               VARCHAR[]  Never NULL.
-- Order:
--   none
WITH as_read AS (
  FROM dialect_operations
  UNION ALL BY NAME
  FROM function_spans
),

hybrid_keys AS (
  SELECT key
  FROM as_read
  GROUP BY key
  HAVING count(*) > 1
),

hybrid_rows AS (
  SELECT as_read.*
  FROM as_read
  SEMI JOIN hybrid_keys USING (key)
),

hybrid AS (
  SELECT
    key,
    coalesce(arg_min(operation, precedence) FILTER (WHERE operation <> 'other'), 'other')
      AS operation,
    coalesce(
      arg_min(dialect, precedence) FILTER (WHERE operation <> 'other'),
      arg_min(dialect, precedence)
    ) AS dialect,
    arg_min(agent_name, precedence) AS agent_name,
    arg_min(agent_label, precedence) AS agent_label,
    arg_min(follows, precedence) AS follows,
    arg_min(tool_name, precedence) AS tool_name,
    arg_min(call_id, precedence) AS call_id,
    arg_min(arguments, precedence) AS arguments,
    arg_min(result, precedence) AS result,
    bool_or(from_log) AS from_log,
    arg_min(content, precedence) AS content,
    arg_min(plan, precedence) AS plan,
    arg_min(user_input, precedence) AS user_input,
    arg_min(answer, precedence) AS answer,
    bool_or(failed) AS failed,
    bool_or(inherits_status) AS inherits_status,
    arg_min(error_type, precedence) AS error_type,
    arg_min(error_message, precedence) AS error_message,
    arg_min(model, precedence) AS model,
    arg_min(input_tokens, precedence) AS input_tokens,
    arg_min(output_tokens, precedence) AS output_tokens,
    arg_min(cache_read_tokens, precedence) AS cache_read_tokens,
    arg_min(reasoning_tokens, precedence) AS reasoning_tokens,
    arg_min(cache_write_tokens, precedence) AS cache_write_tokens,
    arg_min(total_tokens, precedence) AS total_tokens,
    arg_min(excludes_cached, precedence) AS excludes_cached,
    arg_min(stated_usd, precedence) AS stated_usd,
    arg_min(offered_tools, precedence) AS offered_tools,
    arg_min(conversation_id, precedence) AS conversation_id,
    arg_min(effect, precedence) AS effect,
    arg_min(cost, precedence) AS cost,
    bool_or(tells_calls) AS tells_calls,
    arg_min(linked_span_id, precedence) AS linked_span_id,
    arg_min(process_order, precedence) AS process_order,
    arg_min(sub_goal, precedence) AS sub_goal,
    arg_min(decision, precedence) AS decision,
    arg_min(task_id, precedence) AS task_id,
    arg_min(task_category, precedence) AS task_category,
    arg_min(trial, precedence) AS trial,
    arg_min(retries, precedence) AS retries,
    arg_min(run_mode, precedence) AS run_mode,
    arg_min(outcome, precedence) AS outcome,
    arg_min(kill_point, precedence) AS kill_point,
    coalesce(flatten(list(flags) FILTER (WHERE flags IS NOT null)), []) AS flags
  FROM hybrid_rows
  GROUP BY key
),

plain AS (
  SELECT as_read.*
  FROM as_read
  ANTI JOIN hybrid_keys USING (key)
),

coalesced AS (
  SELECT *
  FROM hybrid
  UNION ALL BY NAME
  SELECT * EXCLUDE (precedence)
  FROM plain
),

cached AS (
  SELECT
    *,
    greatest(coalesce(cache_read_tokens, 0), 0)::HUGEINT
    + greatest(coalesce(cache_write_tokens, 0), 0) AS cached_tokens
  FROM coalesced
),

counted AS (
  SELECT
    *,
    input_excludes_cached(
      input_tokens, output_tokens, cached_tokens, total_tokens, excludes_cached
    ) AS adds_cached
  FROM cached
),

-- A model that answers has read tokens. A placeholder such as `<synthetic>` has not.
none_counted AS (
  SELECT counted.key
  FROM counted
  INNER JOIN bucket_spans USING (key)
  WHERE
    counted.operation = 'model'
    AND counted.input_tokens = 0
    AND counted.cached_tokens = 0
    AND coalesce(counted.output_tokens, 0) = 0
    AND NOT bucket_spans.failed
    AND NOT starts_with(coalesce(counted.model, ''), '<')
)

SELECT
  counted.key,
  bucket_spans.trace_id,
  bucket_spans.span_id,
  bucket_spans.parent_span_id,
  bucket_spans.trace_state,
  coalesce(bucket_spans.scope_name, '') AS scope_name,
  bucket_spans.service_name,
  bucket_spans.release,
  bucket_spans.environment,
  bucket_spans.start_ns,
  bucket_spans.end_ns,
  bucket_spans.ended,
  bucket_spans.dropped,
  coalesce(counted.operation, 'other') AS operation,
  counted.dialect,
  nullif(counted.agent_name, '') AS agent_name,
  nullif(counted.agent_label, '') AS agent_label,
  counted.follows,
  counted.tool_name,
  nullif(counted.call_id, '') AS call_id,
  unquoted_json(counted.arguments) AS arguments,
  counted.result,
  coalesce(counted.from_log, false) AS from_log,
  counted.content,
  counted.plan,
  counted.user_input,
  CASE WHEN NOT is_printed_object(counted.answer) THEN counted.answer END AS answer,
  (
    coalesce(counted.failed, false)
    OR bucket_spans.failed
    OR (counted.operation = 'tool' AND stated_failures.key IS NOT null)
  )
  AND NOT coalesce(counted.inherits_status, false)
  AND pauses.key IS null AS failed,
  pauses.key IS NOT null AS paused,
  coalesce(
    counted.error_type,
    CASE WHEN counted.operation = 'tool' THEN stated_failures.error_type END,
    bucket_spans.exception['exception.type']
  ) AS error_type,
  coalesce(
    counted.error_message,
    bucket_spans.exception['exception.message'],
    CASE
      WHEN NOT coalesce(counted.inherits_status, false) THEN bucket_spans.status_message
    END
  ) AS error_message,
  counted.model,
  CASE
    WHEN none_counted.key IS NOT null THEN null
    WHEN counted.adds_cached
      THEN try_cast(counted.input_tokens + counted.cached_tokens AS BIGINT)
    ELSE counted.input_tokens
  END AS input_tokens,
  CASE
    WHEN none_counted.key IS NOT null THEN null
    -- xAI does not count reasoning as output; its total shows that.
    WHEN
      counted.reasoning_tokens > 0
      AND counted.total_tokens::HUGEINT
      = counted.input_tokens::HUGEINT + counted.output_tokens + counted.reasoning_tokens
      THEN counted.output_tokens + counted.reasoning_tokens
    ELSE counted.output_tokens
  END AS output_tokens,
  counted.cache_read_tokens,
  counted.reasoning_tokens,
  counted.cache_write_tokens,
  counted.adds_cached IS null AS ambiguous_tokens,
  counted.stated_usd,
  counted.offered_tools,
  nullif(counted.conversation_id, '') AS conversation_id,
  counted.effect,
  counted.cost,
  coalesce(counted.tells_calls, false) AS tells_calls,
  counted.linked_span_id,
  coalesce(counted.process_order, 0) AS process_order,
  counted.sub_goal,
  counted.decision,
  coalesce(counted.task_id, bucket_spans.declared.task) AS task_id,
  coalesce(counted.task_category, bucket_spans.declared.category) AS task_category,
  coalesce(counted.trial, bucket_spans.declared.trial) AS trial,
  counted.retries,
  coalesce(counted.run_mode, bucket_spans.declared.run_mode) AS run_mode,
  counted.outcome,
  counted.kill_point,
  -- Redactions in the messages of a model call cannot be assigned to one step.
  coalesce(counted.flags, [])
  || CASE
    WHEN counted.operation IN ('tool', 'plan', 'thought', 'observation', 'answer')
      THEN coalesce(bucket_spans.marks, [])
    WHEN list_contains(bucket_spans.marks, 'salvaged') THEN ['salvaged']
    ELSE []
  END
  || CASE
    WHEN counted.key IN (SELECT salvaged_events.key FROM salvaged_events) THEN ['salvaged']
    ELSE []
  END AS flags
FROM counted
INNER JOIN bucket_spans USING (key)
LEFT JOIN none_counted USING (key)
LEFT JOIN pauses USING (key)
LEFT JOIN stated_failures USING (key);
