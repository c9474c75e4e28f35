-- Agents inside a run that another agent of it handed over to, and the call that did so.
--
-- It is the last hand-over to this name, or to a name that is not known, before the agent began.
--
-- Reads:
--   agent_rows
--   calls
--   operations
--   step_agents
--   step_rows
-- Needs:
--   agent_rows WHERE NOT is_root
--   step_rows WHERE kind = 'handoff'
-- Columns:
--   agent         BIGINT   Who was handed over to; one row each.
--   handing       BIGINT   Agent that did so; it began earlier.
--   tool_call_id  VARCHAR  NULL if not recorded.
-- Order:
--   none
WITH handovers AS (
  SELECT
    step_rows.run,
    step_agents.agent AS handing,
    operations.start_ns,
    step_rows.step_index,
    coalesce(calls.call_id, operations.call_id) AS tool_call_id,
    lower(coalesce(calls.tool_name, operations.tool_name)) AS tool_name,
    calls.arguments
  FROM step_rows
  INNER JOIN step_agents USING (run, step_index)
  INNER JOIN operations ON step_rows.span_key = operations.key
  LEFT JOIN calls ON step_rows.call = calls.call
  WHERE step_rows.kind = 'handoff'
),

named AS (
  SELECT
    run,
    handing,
    start_ns,
    step_index,
    tool_call_id,
    -- One tool for all agents: LlamaIndex's, and Google ADK's.
    CASE
      WHEN tool_name = 'handoff' THEN try_cast(arguments AS JSON) ->> '$.to_agent'
      WHEN tool_name = 'transfer_to_agent' THEN try_cast(arguments AS JSON) ->> '$.agent_name'
      ELSE
        nullif(
          regexp_extract(
            tool_name,
            '^(?:handoff to |(?:handoff-)?(?:transfer|hand_?off)_(?:back_)?to_)(.+)$',
            1
          ),
          ''
        )
    END AS name
  FROM handovers
)

SELECT
  agent_rows.agent,
  arg_max(named.handing, (named.start_ns, named.step_index)) AS handing,
  arg_max(
    struct_pack(call_id := named.tool_call_id), (named.start_ns, named.step_index)
  ).call_id AS tool_call_id
FROM agent_rows
INNER JOIN agent_rows AS handing ON agent_rows.run = handing.run
INNER JOIN named ON handing.agent = named.handing
WHERE
  NOT agent_rows.is_root
  AND handing.start_ns < agent_rows.start_ns
  AND named.start_ns < agent_rows.start_ns
  AND coalesce(
    regexp_replace(lower(named.name), '\W', '_', 'g')
    = regexp_replace(lower(agent_rows.agent_name), '\W', '_', 'g'),
    TRUE
  )
GROUP BY agent_rows.agent;
