-- Spans of searches in data sources and of operations on memory, if a build is asked for them.
--
-- The kinds are those of https://github.com/open-telemetry/semantic-conventions-genai 0.1 (2026),
-- and of OpenInference, LangSmith, Langfuse, MLflow, Haystack and Mastra. A search of a data
-- source is named by that, else by its span; an operation on memory by the operation.
--
-- Reads:
--   all_spans
--   optional_steps
--   shapes
-- Needs:
--   optional_steps
-- Columns:
--   key        BIGINT   One row each.
--   tool_name  VARCHAR  Never NULL.
--   arguments  VARCHAR  JSON object of what is known; NULL if nothing is.
--   result     VARCHAR  NULL if it was not captured.
--   effect     VARCHAR  read | write | destructive; NULL if not known.
-- Order:
--   none
WITH naming AS (
  SELECT shape
  FROM shapes
  WHERE
    list_has_any(
      names,
      [
        'gen_ai.operation.name', 'openinference.span.kind', 'langsmith.span.kind',
        'langfuse.observation.type', 'mlflow.spanType', 'haystack.component.type',
        'mastra.span.type'
      ]
    )
),

kinds AS (
  SELECT
    key,
    name,
    attributes,
    CASE
      WHEN
        regexp_full_match(
          attributes['gen_ai.operation.name'],
          'retrieval|(create|delete|search|update|upsert)_memory|(create|delete)_memory_store'
        )
        THEN attributes['gen_ai.operation.name']
      WHEN
        'retriever' IN (
          lower(attributes['openinference.span.kind']),
          attributes['langsmith.span.kind'],
          lower(attributes['langfuse.observation.type']),
          lower(trim(attributes['mlflow.spanType'], '"'))
        )
        THEN 'retrieval'
      WHEN ends_with(attributes['haystack.component.type'], 'Retriever') THEN 'retrieval'
      WHEN attributes['mastra.span.type'] = 'rag_vector_operation' THEN 'vector_operation'
      WHEN attributes['mastra.span.type'] = 'memory_operation' THEN 'memory_operation'
    END AS kind
  FROM all_spans
  WHERE
    shape IN (SELECT naming.shape FROM naming)
    AND 'retrieval' IN (SELECT optional_steps.kind FROM optional_steps)
),

-- OpenInference numbers documents in the names of their attributes.
found AS (
  SELECT
    kinds.*,
    list_sort(
      list_distinct(
        list_transform(
          list_filter(
            map_keys(attributes),
            LAMBDA name: regexp_full_match(name, 'retrieval\.documents\.\d{1,9}\.document\..+')
          ),
          LAMBDA name: string_split(name, '.')[3]::BIGINT
        )
      )
    ) AS positions
  FROM kinds
  WHERE kind IS NOT NULL
),

captured AS (
  SELECT
    key,
    kind,
    name,
    attributes,
    coalesce(
      attributes['input.value'],
      attributes['gen_ai.prompt'],
      attributes['langfuse.observation.input'],
      attributes['mlflow.spanInputs'],
      attributes['haystack.component.input'],
      attributes['mastra.' || attributes['mastra.span.type'] || '.input']
    ) AS input,
    coalesce(
      attributes['gen_ai.retrieval.documents'],
      if(kind = 'search_memory', attributes['gen_ai.memory.records'], NULL),
      if(
        len(positions) > 0,
        to_json(
          list_transform(
            positions,
            LAMBDA position: json_merge_patch(
              '{}',
              json_object(
                'content',
                attributes['retrieval.documents.' || position || '.document.content'],
                'id', attributes['retrieval.documents.' || position || '.document.id'],
                'score',
                try_cast(
                  attributes['retrieval.documents.' || position || '.document.score'] AS DOUBLE
                )
              )
            )
          )
        )::VARCHAR,
        NULL
      ),
      attributes['output.value'],
      attributes['gen_ai.completion'],
      attributes['langfuse.observation.output'],
      attributes['mlflow.spanOutputs'],
      attributes['haystack.component.output'],
      attributes['mastra.' || attributes['mastra.span.type'] || '.output']
    ) AS result
  FROM found
),

described AS (
  SELECT
    *,
    json_merge_patch(
      '{}',
      json_object(
        'query',
        coalesce(
          attributes['gen_ai.retrieval.query.text'], attributes['gen_ai.memory.query.text']
        ),
        'record', attributes['gen_ai.memory.record.id'],
        'records',
        if(
          kind = 'search_memory',
          NULL,
          coalesce(
            try_cast(attributes['gen_ai.memory.records'] AS JSON),
            to_json(attributes['gen_ai.memory.records'])
          )
        ),
        'store', attributes['gen_ai.memory.store.id'],
        'top_k', try_cast(attributes['gen_ai.request.top_k'] AS DOUBLE)
      )
    )::VARCHAR AS stated
  FROM captured
)

SELECT
  key,
  CASE
    WHEN kind = 'retrieval'
      THEN
        coalesce(
          nullif(attributes['gen_ai.data_source.id'], ''),
          nullif(attributes['haystack.component.name'], ''),
          nullif(regexp_replace(name, '^retrieval( .*)?$', ''), ''),
          kind
        )
    ELSE kind
  END AS tool_name,
  CASE
    WHEN stated <> '{}' THEN stated
    WHEN json_type(try_cast(input AS JSON)) = 'OBJECT' THEN input
    WHEN input IS NOT NULL
      THEN json_object('query', coalesce(try_cast(input AS JSON) ->> '$', input))::VARCHAR
  END AS arguments,
  result_text(result) AS result,
  CASE
    WHEN kind IN ('retrieval', 'search_memory') THEN 'read'
    WHEN starts_with(kind, 'delete_memory') THEN 'destructive'
    WHEN contains(kind, '_memory') THEN 'write'
  END AS effect
FROM described;
