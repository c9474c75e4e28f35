-- Whether a text of JSON may hold the sources of Google's answer.
CREATE OR REPLACE TEMP MACRO tells_grounding(OUTPUT) AS
coalesce(
  regexp_matches(output, '"(vertex_ai_)?(grounding|url_?[cC]ontext)_?[mM]etadata": ?[\[{]'), FALSE
);

-- An object, or the first of a list: LiteLLM has one for each candidate. Otherwise NULL.
CREATE OR REPLACE TEMP MACRO one_object(ANSWER) AS
CASE json_type(answer)
  WHEN 'OBJECT' THEN answer
  WHEN 'ARRAY' THEN json_extract(answer, '$[0]')
END;

-- Sources of an answer that are of one kind, as JSON, by either spelling; NULL if there are none.
CREATE OR REPLACE TEMP MACRO sources_of(METADATA, KIND, KIND_IN_CAMEL_CASE) AS
nullif(
  list_filter(
    coalesce(
      json_extract(metadata, '$.groundingChunks'),
      json_extract(metadata, '$.grounding_chunks'),
      '[]'
    )::JSON[],
    LAMBDA source: 'OBJECT' IN (
      json_type(source, '$.' || kind), json_type(source, '$.' || kind_in_camel_case)
    )
  ),
  []
);

-- Queries of a search, as JSON; NULL if there are none.
CREATE OR REPLACE TEMP MACRO queries_of(METADATA, FIELD, FIELD_IN_CAMEL_CASE) AS
nullif(
  coalesce(
    json_extract(metadata, '$.' || field_in_camel_case),
    json_extract(metadata, '$.' || field),
    '[]'
  )::VARCHAR,
  '[]'
)::JSON;

-- A call of a tool that Google ran for an answer, with its arguments and its result if recorded.
CREATE OR REPLACE TEMP MACRO grounding_block(NAME, GIVEN, QUERIES, RESULTS) AS
CASE
  WHEN queries IS NOT NULL OR results IS NOT NULL
    THEN json_object(
      'type', 'server_tool_call',
      'name', name,
      'args', CASE WHEN queries IS NOT NULL THEN json_object(given, queries) END,
      'output', results,
      'status', 'completed'
    )
END;

-- The pages that Google read, as a call: it failed if none of them could be read.
CREATE OR REPLACE TEMP MACRO url_context_block(PAGES) AS
CASE
  WHEN json_array_length(pages) > 0
    THEN json_object(
      'type', 'server_tool_call',
      'name', 'url_context',
      'args', json_object(
        'urls',
        coalesce(
          nullif(json_extract(pages, '$[*].retrievedUrl'), []),
          json_extract(pages, '$[*].retrieved_url')
        )
      ),
      'output', pages,
      'status', if(
        regexp_matches(pages::VARCHAR, '"URL_RETRIEVAL_STATUS_(ERROR|UNSAFE|PAYWALL)"')
        AND NOT contains(pages::VARCHAR, '"URL_RETRIEVAL_STATUS_SUCCESS"'),
        'failed',
        'completed'
      )
    )
END;

-- Tools that Google ran before it answered, as blocks that hosted_part can read. The search
-- queries, and the pages on which the answer rests, belong to the answer as a whole.
--
-- They are in a candidate of Gemini, in ADK's response, in LangChain's `response_metadata`, in the
-- AI SDK's metadata of the provider and, under other names, in LiteLLM's answers. Some models have
-- parts of their own for these calls (`toolCall`), which hold them instead.
CREATE OR REPLACE TEMP MACRO grounding_blocks(ANSWER) AS
CASE
  WHEN tells_grounding(answer::VARCHAR)
    THEN list_transform(
      [{
        'grounding': one_object(
          coalesce(
            json_extract(answer, '$.groundingMetadata'),
            json_extract(answer, '$.grounding_metadata'),
            json_extract(answer, '$.vertex_ai_grounding_metadata')
          )
        ),
        'pages': one_object(
          coalesce(
            json_extract(answer, '$.urlContextMetadata'),
            json_extract(answer, '$.url_context_metadata'),
            json_extract(answer, '$.vertex_ai_url_context_metadata')
          )
        )
      }],
      LAMBDA metadata: list_filter(
        [
          if(
            contains(answer::VARCHAR, '"GOOGLE_SEARCH_'),
            NULL,
            grounding_block(
              'google_search',
              'queries',
              coalesce(
                queries_of(metadata.grounding, 'web_search_queries', 'webSearchQueries'),
                queries_of(metadata.grounding, 'image_search_queries', 'imageSearchQueries')
              ),
              coalesce(
                sources_of(metadata.grounding, 'web', 'web'),
                sources_of(metadata.grounding, 'image', 'image')
              )
            )
          ),
          if(
            contains(answer::VARCHAR, '"GOOGLE_MAPS"'),
            NULL,
            grounding_block(
              'google_maps', 'queries', NULL, sources_of(metadata.grounding, 'maps', 'maps')
            )
          ),
          if(
            contains(answer::VARCHAR, '"FILE_SEARCH"'),
            NULL,
            grounding_block(
              if(
                regexp_matches(answer::VARCHAR, '"file_?[sS]earch_?[sS]tore"'),
                'file_search',
                'retrieval'
              ),
              'queries',
              queries_of(metadata.grounding, 'retrieval_queries', 'retrievalQueries'),
              sources_of(metadata.grounding, 'retrieved_context', 'retrievedContext')
            )
          ),
          if(
            contains(answer::VARCHAR, '"URL_CONTEXT"'),
            NULL,
            url_context_block(
              coalesce(
                json_extract(metadata.pages, '$.urlMetadata'),
                json_extract(metadata.pages, '$.url_metadata')
              )
            )
          )
        ],
        LAMBDA block: block IS NOT NULL
      )
    )[1]
  ELSE []::JSON[]
END;

-- Google's part of the AI SDK's metadata of the provider, otherwise NULL.
CREATE OR REPLACE TEMP MACRO google_metadata(METADATA) AS
CASE
  WHEN tells_grounding(metadata)
    THEN coalesce(
      json_extract(metadata, '$.google'),
      json_extract(metadata, '$.googleVertex'),
      json_extract(metadata, '$.vertex')
    )
END;

-- Whether a text of JSON may hold data that hosted_in_metadata reads.
CREATE OR REPLACE TEMP MACRO mentions_hosted_metadata(MESSAGE) AS
contains(message, '"tool_outputs"') OR tells_grounding(message);

-- Calls of tools that a provider ran, as such blocks, from data outside a message's content: in
-- Google's answers, and in LangChain's form of OpenAI's Responses
-- (`additional_kwargs.tool_outputs`) unless LangChain is configured for its newer form.
CREATE OR REPLACE TEMP MACRO hosted_in_metadata(MESSAGE) AS
CASE
  WHEN mentions_hosted_metadata(message::VARCHAR)
    THEN
      flatten(
        list_transform(
          [message, json_extract(message, '$.response_metadata')],
          LAMBDA holder: coalesce(grounding_blocks(holder), [])
        )
      )
      || list_filter(
        coalesce(json_extract(message, '$.additional_kwargs.tool_outputs'), '[]')::JSON[],
        LAMBDA item: is_hosted(item)
      )
  ELSE []::JSON[]
END;

-- Whether a text of JSON may hold one, in its content or in its metadata (hosted_in_metadata).
CREATE OR REPLACE TEMP MACRO tells_hosted(OUTPUT) AS
coalesce(
  regexp_matches(
    output,
    '"(server_tool_(use|call|call_response|result)|mcp_tool_use|\w+_tool_result'
    '|builtin(-tool-\w+)?|executable_?[cC]ode|providerExecuted|mcp_approval_re(quest|sponse)'
    '|(web_search|file_search|code_interpreter|image_generation|mcp|tool_search)_call'
    '|(google_search|google_maps|url_context|code_execution|retrieval|mcp_server_tool)_call'
    '|tool_?[tT]ype|tool_outputs)"'
  )
  OR tells_grounding(output),
  FALSE
);

-- The id of a call that a provider ran, by how Anthropic's and OpenAI's begin. NULL for NULL.
CREATE OR REPLACE TEMP MACRO is_hosted_id(CALL_ID) AS
split_part(call_id, '_', 1) IN ('srvtoolu', 'mcptoolu', 'ws', 'fs', 'ci', 'ig', 'mcp', 'mcpr');

-- Whether OpenLLMetry gives a call of OpenAI's Responses the id of its item; its result has the
-- call's id instead.
CREATE OR REPLACE TEMP MACRO is_item_id(SCOPE_NAME, CALL_ID) AS
coalesce(
  starts_with(call_id, 'fc_')
  AND scope_name IN (
    'opentelemetry.instrumentation.openai', 'opentelemetry.instrumentation.openai.v1'
  ),
  FALSE
);
