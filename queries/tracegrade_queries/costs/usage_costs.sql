-- The cost of each part of a run's model usage, and the source of that cost.
--
-- The name as recorded counts before the name without gateway, cloud and region, such as `openai/`
-- and `us.anthropic.`. For either, a price for the exact name counts before prices for beginnings;
-- among these the longest counts. A beginning covers every ending, or dates alone. If no price
-- covers the model, or the tokens were not recorded, the cost that the trace
-- states counts. A name in angle brackets (Claude Code's `<synthetic>`) means that no model
-- answered: it costs nothing if it took no tokens. For other names, 0 tokens may just mean that
-- the tokens were not counted.
--
-- Reads:
--   priced_runs
--   prices
-- Needs:
--   priced_runs WHERE len(model_usage) > 0
-- Columns:
--   trajectory_id  VARCHAR  One row for each entry of its model_usage.
--   model          VARCHAR  NULL if not recorded.
--   source         VARCHAR  prices | trace; NULL if the cost is not known.
--   reason         VARCHAR  no_price | no_tokens; NULL if the cost is known.
--   pico_usd       HUGEINT  Cost in millionths of a millionth of a US dollar; NULL if not known.
-- Order:
--   none
WITH usages AS (
  SELECT
    trajectory_id,
    unnest(model_usage) AS usage
  FROM priced_runs
),

models AS (
  SELECT DISTINCT usage.model
  FROM usages
),

model_names AS (
  SELECT
    model,
    model AS name,
    FALSE AS is_bare
  FROM models
  UNION ALL
  SELECT
    model,
    regexp_replace(
      regexp_replace(
        model,
        '^((openrouter|openai|azure|azure_ai|anthropic|bedrock|converse|vertex_ai|google|gemini|'
        || 'google-gla|google-vertex|mistral|mistralai|xai|x-ai|publishers|models)[/:])+',
        ''
      ),
      '^(arn:aws[a-z-]*:bedrock:[^/]*/)?((us|us-gov|eu|apac|ap|au|ca|jp|global)[.])?'
      || '(anthropic|mistral|openai|xai)[.](.+?)(-v[0-9]+(:[0-9]+)?)?$',
      '\5'
    ) AS name,
    TRUE AS is_bare
  FROM models
),

model_prices AS (
  SELECT
    model_names.model,
    prices.input,
    prices.cache_read,
    prices.cache_write,
    prices.output,
    prices.reasoning
  FROM model_names
  INNER JOIN prices
    ON
      starts_with(model_names.name, prices.name)
      AND CASE prices.ending
        WHEN '*' THEN TRUE
        WHEN '' THEN model_names.name = prices.name
        ELSE
          regexp_full_match(
            substr(model_names.name, length(prices.name) + 1),
            '[-@][0-9]{8}|-[0-9]{4}(-[0-9]{2}-[0-9]{2})?'
          )
      END
  QUALIFY
    row_number() OVER (
      PARTITION BY model_names.model
      ORDER BY model_names.is_bare ASC, prices.ending != '' ASC, length(prices.name) DESC
    ) = 1
),

worked_out AS (
  SELECT
    usages.trajectory_id,
    usages.usage.model,
    usages.usage.model LIKE '<%>'
    AND usages.usage.fresh_input_tokens
    + usages.usage.cache_read_tokens
    + usages.usage.cache_write_tokens
    + usages.usage.visible_output_tokens
    + usages.usage.reasoning_tokens = 0 AS is_nothing,
    model_prices.model IS NOT NULL AS has_price,
    round(usages.usage.stated_usd * 1e12)::HUGEINT AS stated,
    usages.usage.fresh_input_tokens::HUGEINT * model_prices.input
    + usages.usage.cache_read_tokens::HUGEINT * model_prices.cache_read
    + usages.usage.cache_write_tokens::HUGEINT * model_prices.cache_write
    + usages.usage.visible_output_tokens::HUGEINT * model_prices.output
    + usages.usage.reasoning_tokens::HUGEINT * model_prices.reasoning AS priced
  FROM usages
  LEFT JOIN model_prices ON usages.usage.model = model_prices.model
)

SELECT
  trajectory_id,
  model,
  CASE
    WHEN priced IS NOT NULL OR is_nothing THEN 'prices'
    WHEN stated IS NOT NULL THEN 'trace'
  END AS source,
  CASE
    WHEN is_nothing OR coalesce(priced, stated) IS NOT NULL THEN NULL
    WHEN has_price THEN 'no_tokens'
    ELSE 'no_price'
  END AS reason,
  if(is_nothing, 0, coalesce(priced, stated)) AS pico_usd
FROM worked_out;
