-- What spans declare of each tool that was called, as its calls mostly do.
--
-- Values that a task file cannot have are left out.
--
-- Reads:
--   steps
-- Columns:
--   tool_name  VARCHAR  One row each.
--   effect     VARCHAR  read | write | destructive; NULL if none is declared. Of equals the first.
--   cost       DOUBLE   At least 0; NULL if none is declared. Of equals the least.
-- Order:
--   tool_name
SELECT
  tool_name,
  mode(effect ORDER BY effect) FILTER (WHERE effect IN ('read', 'write', 'destructive'))
    AS effect,
  mode(cost ORDER BY cost) FILTER (WHERE cost >= 0 AND isfinite(cost)) AS cost
FROM steps
WHERE kind = 'tool_call' AND tool_name <> ''
GROUP BY tool_name
ORDER BY tool_name;
