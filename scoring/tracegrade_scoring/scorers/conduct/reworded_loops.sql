-- Attempts that asked one question three times in other words, and received the same answer.
--
-- Source: docs/metrics.md, section 9.1.
--
-- Reads:
--   reworded_calls
-- Needs:
--   reworded_calls WHERE NOT same_text
-- Columns:
--   attempt_id  INTEGER  One row each.
--   call_index  INTEGER  The first third call; NULL if results that were not captured decide it.
--   last_call   INTEGER  The last call of these; NULL in the same case.
--   detail      VARCHAR  The repeated question; NULL in the same case.
-- Order:
--   none
SELECT
  third.attempt_id,
  min(third.call_index) FILTER (WHERE third.certain AND second.certain) AS call_index,
  max(third.call_index) FILTER (WHERE third.certain AND second.certain) AS last_call,
  arg_min(third.tool_name, third.call_index) FILTER (WHERE third.certain AND second.certain)
  || ' in succession, 3 times in other words with the same result' AS detail
FROM reworded_calls AS third
INNER JOIN reworded_calls AS second
  ON
    third.attempt_id = second.attempt_id
    AND third.trajectory_id = second.trajectory_id
    AND third.own_index = second.own_index + 1
WHERE NOT (third.same_text AND second.same_text)
GROUP BY third.attempt_id;
