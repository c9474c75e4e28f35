-- Tools that were offered to models, from indexed keys.
--
-- Reads:
--   bucket_spans
--   shapes
-- Order:
--   none
CREATE OR REPLACE TEMP VIEW traceloop_offers AS
WITH names AS (
  SELECT
    shape,
    unnest(names) AS name
  FROM shapes
),

-- llm.request.functions.N., for AgentOps gen_ai.request.functions.N.
stems AS (
  SELECT
    shape,
    list_sort(list(name[:-5])) AS stems
  FROM names
  WHERE regexp_matches(name, '^(llm|gen_ai)\.request\.functions\.\d+\.name$')
  GROUP BY shape
),

offering AS (
  SELECT
    bucket_spans.key,
    bucket_spans.attributes,
    stems.stems
  FROM bucket_spans
  INNER JOIN stems USING (shape)
)

SELECT
  key,
  cast(
    to_json(
      list_transform(
        stems,
        LAMBDA stem: {
          'name': attributes[stem || 'name'],
          'description': attributes[stem || 'description'],
          'parameters': try_cast(attributes[stem || 'parameters'] AS JSON)
        }
      )
    ) AS VARCHAR
  ) AS offered_tools
FROM offering;
