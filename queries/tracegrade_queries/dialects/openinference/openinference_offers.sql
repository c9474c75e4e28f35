-- Tools that were offered to model calls.
--
-- Reads:
--   bucket_spans
--   openinference_haystack
--   shapes
-- Order:
--   none
CREATE OR REPLACE TEMP VIEW openinference_offers AS
WITH offer_positions AS (
  SELECT
    shape,
    list_filter(
      generate_series(1, len(names)), LAMBDA number: starts_with(names[number], 'llm.tools.')
    ) AS positions
  FROM shapes
),

offered AS (
  SELECT
    bucket_spans.key,
    list_select(map_entries(bucket_spans.attributes), offer_positions.positions) AS entries
  FROM bucket_spans
  INNER JOIN offer_positions USING (shape)
  WHERE
    len(offer_positions.positions) > 0
    AND bucket_spans.attributes['openinference.span.kind'] = 'LLM'
),

-- Model calls usually repeat the offer of others: each offer is read once.
distinct_offers AS (
  SELECT DISTINCT entries
  FROM offered
),

tool_entries AS (
  SELECT
    entries,
    unnest(entries) AS entry
  FROM distinct_offers
),

tools AS (
  SELECT
    entries,
    try_cast(string_split(entry.key, '.')[3] AS BIGINT) AS position,
    any_value(entry.value) FILTER (WHERE ends_with(entry.key, '.json_schema')) AS json_schema,
    any_value(entry.value) FILTER (WHERE ends_with(entry.key, '.tool.name')) AS name
  FROM tool_entries
  GROUP BY entries, position
),

-- The schema is the whole definition, or only the parameters; the name is then in another key.
read_offers AS (
  SELECT
    entries,
    '['
    || string_agg(
      CASE
        WHEN name IS NULL THEN json_schema
        ELSE json_object('name', name, 'parameters', json_schema::JSON)::VARCHAR
      END, ','
      ORDER BY position
    )
    || ']' AS offered_tools
  FROM tools
  WHERE json_valid(json_schema)
  GROUP BY entries
)

SELECT
  offered.key,
  read_offers.offered_tools
FROM offered
INNER JOIN read_offers USING (entries)
UNION ALL
SELECT
  key,
  to_json(
    list_transform(
      input_value ->> '$.tools[*]',
      LAMBDA printed: { 'name': regexp_extract(printed, '^\w+\(name=\x27([^\x27]+)\x27', 1) }
    )
  )::VARCHAR AS offered_tools
FROM openinference_haystack
WHERE json_type(input_value, '$.tools') = 'ARRAY';
