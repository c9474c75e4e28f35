-- Agents below one span that never arrived, joined by hand-overs: they are one run.
--
-- The span that joined them, a team's or a workflow's, was lost with its process. A span of its
-- own, a model's request, or the next agent records the hand-over.
--
-- Reads:
--   bucket_spans
--   dialect_messages
--   known_parents
--   operations
--   run_starts
-- Needs:
--   run_starts GROUP BY trace_id HAVING count(*) > 1
--   known_parents WHERE operation = 'agent' AND top IN (SELECT key FROM bucket_spans WHERE
--     parent_span_id IS NOT NULL)
-- Columns:
--   key   BIGINT  Outermost agent that was handed over to; one row each.
--   next  BIGINT  The agent that handed over, below the same span: the last to start before it
--                 did.
-- Order:
--   none
WITH lost AS (
  SELECT
    run_starts.key,
    run_starts.trace_id,
    run_starts.start_ns,
    tops.parent_span_id AS above,
    regexp_replace(
      lower(coalesce(operations.agent_name, operations.agent_label)), '\W', '_', 'g'
    ) AS name,
    regexp_replace(lower(operations.follows), '\W', '_', 'g') AS follows
  FROM run_starts
  INNER JOIN known_parents USING (key)
  INNER JOIN bucket_spans AS tops ON known_parents.top = tops.key
  INNER JOIN operations ON run_starts.key = operations.key
  WHERE run_starts.caller IS NULL AND tops.parent_span_id IS NOT NULL
),

requested AS (
  SELECT
    key,
    CASE
      WHEN lower(tool_name) = 'handoff' THEN try_cast(arguments AS JSON) ->> '$.to_agent'
      ELSE
        nullif(
          regexp_extract(
            lower(tool_name), '^(?:handoff-)?(?:transfer|hand_?off)_(?:back_)?to_(.+)$', 1
          ), ''
        )
    END AS name
  FROM dialect_messages
  WHERE
    direction = 'out'
    AND part_type = 'tool_call'
    AND regexp_matches(tool_name, '(?i)hand_?off|transfer')
),

handoffs AS (
  SELECT
    operations.trace_id,
    operations.start_ns,
    regexp_replace(
      lower(regexp_replace(operations.tool_name, '(?i)^handoff to ', '')), '\W', '_', 'g'
    ) AS name
  FROM operations
  WHERE operations.operation = 'handoff'
  UNION
  SELECT
    operations.trace_id,
    operations.start_ns,
    regexp_replace(lower(requested.name), '\W', '_', 'g') AS name
  FROM requested
  INNER JOIN operations USING (key)
  WHERE requested.name IS NOT NULL
),

handing AS (
  SELECT
    handoffs.trace_id,
    handoffs.start_ns,
    handoffs.name,
    lost.key,
    lost.above
  FROM handoffs
  ASOF JOIN lost ON handoffs.trace_id = lost.trace_id AND handoffs.start_ns >= lost.start_ns
),

handed AS (
  SELECT
    lost.key,
    handing.key AS next,
    handing.start_ns
  FROM lost
  ASOF JOIN handing
    ON
      lost.trace_id = handing.trace_id
      AND lost.above = handing.above
      AND lost.name = handing.name
      AND lost.start_ns > handing.start_ns
  UNION ALL
  SELECT
    lost.key,
    earlier.key AS next,
    earlier.start_ns
  FROM lost
  ASOF JOIN lost AS earlier
    ON
      lost.trace_id = earlier.trace_id
      AND lost.above = earlier.above
      AND lost.follows = earlier.name
      AND lost.start_ns > earlier.start_ns
)

SELECT
  key,
  arg_max(next, start_ns) AS next
FROM handed
WHERE key <> next
GROUP BY key;
