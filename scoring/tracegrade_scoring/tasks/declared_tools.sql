-- Declarations of each called tool on spans: those that most of its calls have.
--
-- Values that a task file cannot have are left out.
--
-- Reads:
--   steps
-- Columns:
--   tool_name  VARCHAR  One row each.
--   effect     VARCHAR  read | write | destructive; NULL if none is declared. The first if several
--                       are equally common.
--   cost       DOUBLE   At least 0; NULL if none is declared. The least if several are equally
--                       common.
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
