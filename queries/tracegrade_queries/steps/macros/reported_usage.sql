-- The tokens of an answer in a provider's JSON, and whether its input count is complete.
--
-- `reported_usage` reads `usage` in the spelling of any provider or platform, as fields that
-- dialects declare: input_tokens, output_tokens, cache_read_tokens, cache_write_tokens,
-- reasoning_tokens, total_tokens, excludes_cached. Google does not include thoughts in the count
-- of candidates. Langfuse counts each type separately unless its total is just input plus output.
-- All fields are NULL for NULL.
--
-- `input_excludes_cached` tells whether a model call's input count leaves out cached tokens. TRUE
-- if the total includes both, or if the cached count is greater than the input; otherwise it
-- depends on the writer of the span. NULL: both readings are possible.
CREATE OR REPLACE TEMP MACRO input_excludes_cached(GIVEN, OUTPUT, CACHED, TOTAL, KNOWN) AS
CASE
  WHEN cached <= 0 OR given IS NULL THEN FALSE
  WHEN total::HUGEINT = given::HUGEINT + output + cached OR cached > given THEN TRUE
  ELSE known
END;

CREATE OR REPLACE TEMP MACRO reported_usage(USAGE) AS
list_transform(
  [{
    'given': try_cast(
      coalesce(
        usage ->> '$.input',
        usage ->> '$.input_tokens',
        usage ->> '$.prompt_tokens',
        usage ->> '$.inputTokens.total',
        usage ->> '$.inputTokens',
        usage ->> '$.promptTokens',
        usage ->> '$.promptTokenCount',
        usage ->> '$.prompt_token_count'
      ) AS HUGEINT
    ),
    'of_tools': try_cast(
      coalesce(
        usage ->> '$.toolUsePromptTokenCount', usage ->> '$.tool_use_prompt_token_count'
      ) AS HUGEINT
    ),
    'output': try_cast(
      coalesce(
        usage ->> '$.output',
        usage ->> '$.output_tokens',
        usage ->> '$.completion_tokens',
        usage ->> '$.outputTokens.total',
        usage ->> '$.outputTokens',
        usage ->> '$.completionTokens',
        usage ->> '$.candidatesTokenCount',
        usage ->> '$.candidates_token_count'
      ) AS HUGEINT
    ),
    'read_inside': coalesce(
      usage ->> '$.prompt_tokens_details.cached_tokens',
      usage ->> '$.input_tokens_details.cached_tokens',
      usage ->> '$.input_token_details.cache_read',
      usage ->> '$.prompt_cached_tokens',
      usage ->> '$.cachedInputTokens',
      usage ->> '$.inputTokenDetails.cacheReadTokens',
      usage ->> '$.inputTokens.cacheRead',
      usage ->> '$.cachedContentTokens',
      usage ->> '$.cachedContentTokenCount',
      usage ->> '$.cached_content_token_count',
      usage ->> '$.cached_input_tokens',
      usage ->> '$.cached_tokens',
      usage ->> '$.prompt_cache_hit_tokens'
    ),
    'read_else': coalesce(
      usage ->> '$.input_cached_tokens',
      usage ->> '$.input_cache_read',
      usage ->> '$.cache_read_input_tokens',
      usage ->> '$.cacheReadInputTokens',
      usage ->> '$.cacheReadInputTokenCount',
      usage ->> '$.input_tokens_cache_read'
    ),
    'written': try_cast(
      coalesce(
        usage ->> '$.prompt_tokens_details.cache_write_tokens',
        usage ->> '$.input_token_details.cache_creation',
        usage ->> '$.prompt_cache_creation_tokens',
        usage ->> '$.input_cache_creation',
        usage ->> '$.input_cache_write',
        usage ->> '$.prompt_tokens_details.cache_creation_tokens',
        usage ->> '$.input_tokens_details.cache_write_tokens',
        usage ->> '$.inputTokenDetails.cacheWriteTokens',
        usage ->> '$.inputTokens.cacheWrite',
        usage ->> '$.cache_creation_input_tokens',
        usage ->> '$.cacheCreationInputTokens',
        usage ->> '$.cacheWriteInputTokens',
        usage ->> '$.cacheWriteInputTokenCount',
        usage ->> '$.input_tokens_cache_write'
      ) AS BIGINT
    ),
    'reasoning': try_cast(
      coalesce(
        usage ->> '$.completion_tokens_details.reasoning_tokens',
        usage ->> '$.output_tokens_details.reasoning_tokens',
        usage ->> '$.output_token_details.reasoning',
        usage ->> '$.completion_reasoning_tokens',
        usage ->> '$.outputTokenDetails.reasoningTokens',
        usage ->> '$.outputTokens.reasoning',
        usage ->> '$.reasoningTokens',
        usage ->> '$.reasoning_tokens',
        usage ->> '$.reasoning_output_tokens'
      ) AS BIGINT
    ),
    'thoughts': try_cast(
      coalesce(
        usage ->> '$.output_reasoning_tokens',
        usage ->> '$.output_reasoning',
        usage ->> '$.thoughtsTokens',
        usage ->> '$.thoughtsTokenCount',
        usage ->> '$.thoughts_token_count'
      ) AS BIGINT
    ),
    'total': try_cast(
      coalesce(
        usage ->> '$.total',
        usage ->> '$.total_tokens',
        usage ->> '$.totalTokens',
        usage ->> '$.totalTokenCount',
        usage ->> '$.total_token_count'
      ) AS BIGINT
    ),
    'counts_by_type': usage ->> '$.input' IS NOT NULL,
    'is_bedrock': coalesce(
      usage ->> '$.cacheReadInputTokens', usage ->> '$.cacheReadInputTokenCount'
    ) IS NOT NULL
  }],
  LAMBDA counts: {
    'input_tokens': try_cast(counts.given + coalesce(counts.of_tools, 0) AS BIGINT),
    'output_tokens': try_cast(
      counts.output + CASE
        WHEN counts.counts_by_type AND counts.total = counts.given + counts.output THEN 0
        ELSE coalesce(counts.thoughts, 0)
      END AS BIGINT
    ),
    'cache_read_tokens': try_cast(coalesce(counts.read_inside, counts.read_else) AS BIGINT),
    'cache_write_tokens': counts.written,
    'reasoning_tokens': coalesce(counts.reasoning, counts.thoughts),
    'total_tokens': counts.total,
    'excludes_cached': CASE
      WHEN counts.read_inside IS NOT NULL THEN FALSE
      WHEN counts.counts_by_type THEN coalesce(counts.total <> counts.given + counts.output, TRUE)
      WHEN counts.is_bedrock THEN TRUE
    END
  }
)[1];
