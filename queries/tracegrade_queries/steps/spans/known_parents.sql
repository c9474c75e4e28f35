-- The nearest known operation above each known operation.
--
-- Some instrumentations attach a span next to the span that it belongs below. A tool that runs
-- during an agent which it called is put below that agent. An agent that runs within a tool call
-- of an earlier sibling agent is put below that call.
--
-- Reads:
--   operations
--   tree
--   unknown_ends
-- Columns:
--   key                BIGINT   Known operation; one row each.
--   operation          VARCHAR
--   parent             BIGINT   Nearest known operation above; NULL if there is none.
--   parent_operation   VARCHAR  Operation of that parent; NULL if there is none.
--   top                BIGINT   Highest span above that arrived, when parent is NULL; else NULL.
-- Order:
--   none
WITH known AS (
  SELECT
    key,
    operation,
    start_ns,
    end_ns
  FROM operations
  WHERE operation <> 'other'
),

ends AS (
  SELECT
    known.*,
    coalesce(unknown_ends.last, tree.next, known.key) AS last
  FROM known
  LEFT JOIN tree ON known.key = tree.key
  LEFT JOIN unknown_ends ON tree.next = unknown_ends.key
),

as_sent AS (
  SELECT
    ends.key,
    ends.operation,
    ends.start_ns,
    ends.end_ns,
    above.key AS parent,
    above.operation AS parent_operation,
    CASE WHEN above.key IS NULL THEN ends.last END AS top
  FROM ends
  LEFT JOIN known AS above ON ends.last = above.key AND ends.last <> ends.key
),

called_agents AS (
  SELECT *
  FROM as_sent
  WHERE operation = 'agent' AND parent_operation = 'tool'
),

done_by_agents AS (
  SELECT
    as_sent.key,
    called_agents.key AS parent,
    'agent' AS parent_operation
  FROM as_sent
  ASOF JOIN called_agents
    ON as_sent.parent = called_agents.parent AND as_sent.start_ns >= called_agents.start_ns
  WHERE as_sent.operation <> 'agent' AND as_sent.end_ns <= called_agents.end_ns
),

inner_agents AS (
  SELECT *
  FROM as_sent
  WHERE operation = 'agent' AND parent_operation = 'agent'
),

inner_tools AS (
  SELECT
    as_sent.key,
    as_sent.start_ns,
    as_sent.end_ns,
    inner_agents.parent AS outer_agent,
    inner_agents.start_ns AS agent_start_ns
  FROM as_sent
  INNER JOIN inner_agents ON as_sent.parent = inner_agents.key
  WHERE as_sent.operation = 'tool'
),

called_by_tools AS (
  SELECT
    inner_agents.key,
    inner_tools.key AS parent,
    'tool' AS parent_operation
  FROM inner_agents
  ASOF JOIN inner_tools
    ON
      inner_agents.parent = inner_tools.outer_agent
      AND inner_agents.start_ns >= inner_tools.start_ns
  WHERE
    inner_agents.end_ns <= inner_tools.end_ns
    -- Without this condition, spans of zero length could be below one another in a circle.
    AND inner_agents.start_ns > inner_tools.agent_start_ns
),

moved AS (
  SELECT * FROM done_by_agents
  UNION ALL
  SELECT * FROM called_by_tools
)

SELECT
  as_sent.key,
  as_sent.operation,
  coalesce(moved.parent, as_sent.parent) AS parent,
  coalesce(moved.parent_operation, as_sent.parent_operation) AS parent_operation,
  as_sent.top
FROM as_sent
LEFT JOIN moved ON as_sent.key = moved.key;
