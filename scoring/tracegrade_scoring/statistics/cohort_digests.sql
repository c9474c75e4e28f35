-- A digest of the sums of each cohort, which changes when one of them does.
--
-- Digests are compared within one process only.
--
-- Reads:
--   current_sums
-- Columns:
--   release     VARCHAR  NULL if not sent.
--   agent_name  VARCHAR  NULL if none is named.
--   run_mode    VARCHAR  production | live | mocked; NULL if not said. One row for each of the
--                        three.
--   digest      VARCHAR  Of all sums of the cohort, in any order.
-- Order:
--   agent_name, release, run_mode
SELECT
  release,
  agent_name,
  run_mode,
  concat_ws(
    '/', count(*), bit_xor(hash(current_sums)), sum(hash(current_sums)::HUGEINT)
  ) AS digest
FROM current_sums
GROUP BY release, agent_name, run_mode
ORDER BY agent_name, release, run_mode;
