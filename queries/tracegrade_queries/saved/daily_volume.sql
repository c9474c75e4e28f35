-- Volume received on each day: trajectories, calls, errors, tokens, and the incomplete share.
--
-- Reads:
--   trajectories
-- Columns:
--   date              DATE     Date of first receipt, UTC. One row for each date and service_name.
--   service_name      VARCHAR  NULL if not sent.
--   trajectories      BIGINT   At least 1.
--   incomplete        BIGINT   Trajectories whose root, or a span above it, did not arrive.
--   steps             BIGINT
--   tool_calls        BIGINT
--   error_share       DOUBLE   Calls whose status is error or not_executed / calls, in [0, 1];
--                              NULL without a call.
--   tokens            BIGINT   Input and output tokens; 0 if none were recorded.
-- Order:
--   date DESC, service_name
SELECT
  date,
  service_name,
  count(*) AS trajectories,
  count(*) FILTER (WHERE NOT complete) AS incomplete,
  sum(step_count)::BIGINT AS steps,
  sum(tool_call_count)::BIGINT AS tool_calls,
  sum(error_count) / nullif(sum(tool_call_count), 0) AS error_share,
  sum(coalesce(input_tokens, 0) + coalesce(output_tokens, 0))::BIGINT AS tokens
FROM trajectories
GROUP BY date, service_name
ORDER BY date DESC, service_name ASC;
