-- Coverage of each dialect in this lake: the share of steps that have each field.
--
-- Reads:
--   steps
-- Columns:
--   dialect           VARCHAR  One row each.
--   trajectories      BIGINT
--   steps             BIGINT
--   tool_calls        BIGINT
--   call_ids          DOUBLE   Calls with an id / calls, in [0, 1]; NULL without calls.
--   arguments         DOUBLE   Calls with arguments / calls.
--   statuses          DOUBLE   Calls with a status other than unknown / calls.
--   offers            DOUBLE   Calls whose offered tools are known / calls.
--   results           DOUBLE   Calls with a result / calls.
--   with_thoughts     DOUBLE   Trajectories with a thought / trajectories, in [0, 1].
--   with_answers      DOUBLE   Trajectories with an answer / trajectories.
--   with_tokens       DOUBLE   Trajectories with token counts / trajectories.
-- Order:
--   trajectories DESC, dialect
SELECT
  dialect,
  count(DISTINCT trajectory_id) AS trajectories,
  count(*) AS steps,
  count(*) FILTER (WHERE kind = 'tool_call') AS tool_calls,
  count(tool_call_id) FILTER (WHERE kind = 'tool_call') / nullif(tool_calls, 0) AS call_ids,
  count(steps.arguments) FILTER (WHERE kind = 'tool_call') / nullif(tool_calls, 0) AS arguments,
  count(*) FILTER (WHERE kind = 'tool_call' AND status <> 'unknown') / nullif(tool_calls, 0)
    AS statuses,
  count(offered) FILTER (WHERE kind = 'tool_call') / nullif(tool_calls, 0) AS offers,
  count(result) FILTER (WHERE kind = 'tool_call') / nullif(tool_calls, 0) AS results,
  count(DISTINCT trajectory_id) FILTER (WHERE kind = 'thought') / trajectories AS with_thoughts,
  count(DISTINCT trajectory_id) FILTER (WHERE kind = 'answer') / trajectories AS with_answers,
  count(DISTINCT trajectory_id) FILTER (WHERE input_tokens IS NOT NULL) / trajectories
    AS with_tokens
FROM steps
GROUP BY dialect
ORDER BY trajectories DESC, dialect ASC;
