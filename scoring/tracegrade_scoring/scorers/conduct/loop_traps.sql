-- Attempts in which an agent went round in circles, and the call that shows it first.
--
-- A loop is one of these: (1) the same tool, arguments and result three times in a trajectory,
-- while other calls found nothing new if it went well; (2) three times in direct succession: the
-- same write, or the same failed call (tool and arguments), or two or three calls in turn that are
-- not all equal in tool and arguments; (3) the same question three times in other words.
--
-- Source: [Harness], "Failure-mode taxonomy"; docs/metrics.md, section 9.1.
--
-- Reads:
--   call_repeats
--   reworded_loops
-- Needs:
--   call_repeats or reworded_loops WHERE detail IS NOT NULL
-- Columns:
--   attempt_id  INTEGER  One row each.
--   call_index  INTEGER  The third occurrence; of calls in turn: where the third round begins.
--   last_call   INTEGER  The last call that a loop covers.
--   detail      VARCHAR  What is repeated.
-- Order:
--   none
WITH counted AS (
  SELECT
    attempt_id,
    call_index,
    tool_name,
    row_number() OVER so_far AS occurrence,
    count(*) OVER (PARTITION BY attempt_id, trajectory_id, identity, result, finds)
      AS occurrences
  FROM call_repeats
  WHERE result IS NOT NULL
  WINDOW so_far AS (
    PARTITION BY attempt_id, trajectory_id, identity, result, finds
    ORDER BY call_index
  )
),

-- Calls outside loops are not here, so the row before a call need not be the call before it.
neighbors AS (
  SELECT
    *,
    lag(tool_name, 1) OVER own_calls AS tool_1,
    lag(tool_name, 2) OVER own_calls AS tool_2,
    lag(call_index, 1) OVER own_calls AS call_1,
    lag(call_index, 2) OVER own_calls AS call_2,
    lag(own_index, 2) OVER own_calls AS own_index_2,
    failed AND lag(failed, 1) OVER own_calls AND lag(failed, 2) OVER own_calls AS keeps_failing,
    lag(identity, 1) OVER own_calls AS identity_1,
    lag(identity, 2) OVER own_calls AS identity_2,
    coalesce(
      own_index - lag(own_index, 2) OVER own_calls = 2
      AND identity = lag(identity, 2) OVER own_calls,
      FALSE
    ) AS like_second,
    coalesce(
      own_index - lag(own_index, 3) OVER own_calls = 3
      AND identity = lag(identity, 3) OVER own_calls,
      FALSE
    ) AS like_third
  FROM call_repeats
  WINDOW own_calls AS (PARTITION BY attempt_id, trajectory_id ORDER BY own_index)
),

rounds AS (
  SELECT
    *,
    (writes OR keeps_failing)
    AND own_index - own_index_2 = 2
    AND identity = identity_1
    AND identity = identity_2 AS repeats_act,
    identity <> identity_1
    AND count_if(like_second) OVER (
      PARTITION BY attempt_id, trajectory_id
      ORDER BY own_index
      ROWS BETWEEN 3 PRECEDING AND CURRENT ROW
    ) = 4 AS ends_pairs,
    NOT (identity = identity_1 AND identity = identity_2)
    AND count_if(like_third) OVER (
      PARTITION BY attempt_id, trajectory_id
      ORDER BY own_index
      ROWS BETWEEN 5 PRECEDING AND CURRENT ROW
    ) = 6 AS ends_triples
  FROM neighbors
),

loops AS (
  SELECT
    attempt_id,
    min(call_index) FILTER (WHERE occurrence = 3) AS call_index,
    max(call_index) AS last_call,
    arg_min(
      concat(tool_name, ' ', occurrences, ' times with the same arguments and result'), call_index
    ) FILTER (WHERE occurrence = 3) AS detail
  FROM counted
  WHERE occurrences >= 3
  GROUP BY attempt_id
  UNION ALL
  SELECT
    attempt_id,
    min(call_index) AS call_index,
    max(call_index) AS last_call,
    arg_min(concat(tool_name, ' in succession, 3 times with the same arguments'), call_index)
      AS detail
  FROM rounds
  WHERE repeats_act
  GROUP BY attempt_id
  UNION ALL
  SELECT
    attempt_id,
    min(call_1) AS call_index,
    max(call_index) AS last_call,
    arg_min(concat(tool_1, ', ', tool_name, ' in turn, 3 times'), call_index) AS detail
  FROM rounds
  WHERE ends_pairs
  GROUP BY attempt_id
  UNION ALL
  SELECT
    attempt_id,
    min(call_2) AS call_index,
    max(call_index) AS last_call,
    arg_min(concat(tool_2, ', ', tool_1, ', ', tool_name, ' in turn, 3 times'), call_index)
      AS detail
  FROM rounds
  WHERE ends_triples
  GROUP BY attempt_id
  UNION ALL
  SELECT
    attempt_id,
    call_index,
    last_call,
    detail
  FROM reworded_loops
  WHERE detail IS NOT NULL
)

SELECT
  attempt_id,
  min(call_index) AS call_index,
  max(last_call) AS last_call,
  arg_min(detail, (call_index, detail)) AS detail
FROM loops
GROUP BY attempt_id;
