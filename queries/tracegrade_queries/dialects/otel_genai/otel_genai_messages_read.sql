-- Messages of lists in the conventions' form, without those that repeat an earlier input.
--
-- Reads:
--   otel_genai_history
--   otel_genai_lists
-- Order:
--   none
-- Whether a part is of a tool that the model's provider ran; Pydantic AI marks those as `builtin`.
CREATE OR REPLACE TEMP MACRO is_hosted_type(TYPE, BUILTIN) AS
CASE
  WHEN type IN ('text', 'reasoning', 'tool_call', 'tool_call_response')
    THEN coalesce(builtin = 'true', FALSE)
  ELSE coalesce(regexp_matches(type, hosted_types()), FALSE)
END;

-- Whether one of the parts of some messages is.
CREATE OR REPLACE TEMP MACRO hold_hosted(MESSAGES) AS
len(
  list_filter(
    flatten(list_transform(messages, LAMBDA message: message.parts)),
    LAMBDA part: is_hosted_type(part.type, part.builtin)
  )
) > 0;

-- The texts of a message's parts, as one.
CREATE OR REPLACE TEMP MACRO texts_of(PARTS) AS
array_to_string(
  list_transform(
    list_filter(parts, LAMBDA part: part.type = 'text'),
    LAMBDA part: part.content ->> '$'
  ),
  ''
);

-- Arguments that are null mean no arguments; without the key, they are not known.
CREATE OR REPLACE TEMP MACRO without_null_arguments(MESSAGES) AS
if(
  contains(messages, '"arguments": null') OR contains(messages, '"arguments":null'),
  regexp_replace(messages, '"arguments": ?null', '"arguments":{}', 'g'),
  messages
);

CREATE OR REPLACE TEMP TABLE otel_genai_messages_read AS
WITH tellings AS (
  SELECT
    lists.key,
    lists.scope_name,
    lists.direction,
    coalesce(history.rest, lists.messages) AS messages
  FROM otel_genai_lists AS lists
  LEFT JOIN otel_genai_history AS history
    ON lists.key = history.key AND lists.direction = 'in'
  WHERE lists.has_parts
),

parsed AS (
  SELECT
    key,
    scope_name,
    direction,
    json_transform(
      try_cast(without_null_arguments(messages) AS JSON),
      '[{"role": "VARCHAR", "finish_reason": "VARCHAR", "tool_call_id": "VARCHAR",
        "tool_calls": [{"id": "VARCHAR",
        "function": {"name": "VARCHAR", "arguments": "JSON"}}],
        "parts": [{"type": "VARCHAR", "content": "JSON",
        "id": "VARCHAR", "name": "VARCHAR", "arguments": "JSON", "response": "JSON",
        "result": "JSON", "builtin": "VARCHAR", "is_error": "VARCHAR", "isError": "VARCHAR", "status": "VARCHAR"}]}]'
    ) AS messages
  FROM tellings
),

-- Google ADK writes a stream piece by piece, and for some models the whole after it; only the last
-- message has a stop reason. Pieces without the whole are joined into one text.
pieces AS (
  SELECT
    *,
    coalesce(messages[-1].finish_reason, '') <> '' AND messages[1].finish_reason = ''
      AS is_in_pieces,
    CASE
      WHEN is_in_pieces
        THEN flatten(list_transform(messages[:-2], LAMBDA message: message.parts))
    END AS first_parts,
    CASE WHEN is_in_pieces THEN texts_of(first_parts) END AS first_text,
    CASE WHEN is_in_pieces THEN texts_of(messages[-1].parts) END AS last_text
  FROM parsed
)

SELECT
  key,
  scope_name,
  direction,
  CASE
    WHEN NOT coalesce(is_in_pieces, FALSE) THEN messages
    -- The whole may have more than the pieces, or lack thoughts.
    WHEN
      last_text <> ''
      AND (ends_with(first_text, last_text) OR ends_with(last_text, first_text))
      THEN messages[-1:]
    ELSE [
      struct_update(
        messages[-1],
        parts := [
          struct_update(
            first_parts[1], type := 'text', content := to_json(first_text || last_text)
          )
        ]
        || list_filter(
          first_parts || messages[-1].parts,
          LAMBDA part: part.type <> 'text'
        )
      )
    ]
  END AS messages
FROM pieces;
