-- Sibling agents that handed over from one to the next: they are one run.
--
-- Some frameworks start each agent under no known span, after another agent ran the tool
-- `transfer_to_` and its name.
--
-- Reads:
--   operations
--   run_starts
-- Needs:
--   operations WHERE operation = 'tool' AND contains(tool_name, '_to_')
-- Columns:
--   key   BIGINT  Outermost agent that was handed over to; one row each.
--   next  BIGINT  The agent that handed over: the last to start before the tool for it ran.
-- Order:
--   none
WITH outermost AS (
  SELECT
    key,
    trace_id,
    start_ns,
    regexp_replace(lower(agent_name), '\W', '_', 'g') AS name
  FROM run_starts
  WHERE caller IS NULL
),

transfers AS (
  SELECT
    trace_id,
    start_ns,
    nullif(
      regexp_extract(
        lower(tool_name), '^(?:handoff-)?(?:transfer|hand_?off)_(?:back_)?to_(.+)$', 1
      ), ''
    ) AS name
  FROM operations
  WHERE operation = 'tool' AND contains(tool_name, '_to_')
),

handing AS (
  SELECT
    transfers.trace_id,
    transfers.start_ns,
    transfers.name,
    outermost.key
  FROM transfers
  ASOF JOIN outermost
    ON transfers.trace_id = outermost.trace_id AND transfers.start_ns >= outermost.start_ns
  WHERE transfers.name IS NOT NULL
)

SELECT
  outermost.key,
  handing.key AS next
FROM outermost
ASOF JOIN handing
  ON
    outermost.trace_id = handing.trace_id
    AND outermost.name = handing.name
    AND outermost.start_ns > handing.start_ns
WHERE outermost.key <> handing.key;
