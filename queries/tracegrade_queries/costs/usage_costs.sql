-- The cost of each part of a run's model usage, and the source of that cost.
--
-- A price for the model's exact name counts before prices for prefixes; among prefixes the longest
-- counts. If no price covers the model, or the tokens were not recorded, the cost that the trace
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

model_prices AS (
  SELECT
    models.model,
    prices.input,
    prices.cache_read,
    prices.cache_write,
    prices.output,
    prices.reasoning
  FROM models
  INNER JOIN prices
    ON
      models.model = prices.name
      OR (prices.is_prefix AND starts_with(models.model, prices.name))
  QUALIFY
    row_number() OVER (
      PARTITION BY models.model ORDER BY prices.is_prefix ASC, length(prices.name) DESC
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
