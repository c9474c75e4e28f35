-- Whether each attempt fulfils its task's success criterion.
--
-- All parts that the criterion gives must hold. Inside, -1 is false, 0 unknown and 1 true, so that
-- "all" is the least and "any" the greatest. Source: metrics.md, section 8; design, section 7.
--
-- Reads:
--   attempt_bindings
--   calls
--   canonical_values
--   expression_results
--   found_values
--   steps
--   task_matches
--   task_success
--   trajectories
--   wanted_values
-- Columns:
--   attempt_id  VARCHAR  One row for each attempt whose task has a criterion.
--   success     BOOLEAN  NULL if content that it needs was not captured or bound.
-- Order:
--   attempt_id
WITH criteria AS (
  SELECT
    task_matches.attempt_id,
    task_success.task_id,
    task_success.answer,
    task_success.answer_input,
    task_success.tool_name,
    task_success.failed
  FROM task_matches
  INNER JOIN task_success USING (task_id)
),

compared AS (
  SELECT
    found_values.attempt_id,
    found_values.place,
    found_values.path,
    found_values.call_index,
    CASE
      WHEN NOT found_values.captured OR found_values.wanted IS NULL THEN 0
      WHEN found_texts.canonical = wanted_texts.canonical THEN 1
      ELSE -1
    END AS held
  FROM found_values
  LEFT JOIN canonical_values AS found_texts ON found_values.found = found_texts.text
  LEFT JOIN canonical_values AS wanted_texts ON found_values.wanted = wanted_texts.text
),

-- Calls that could fulfil the criterion; without values to compare, each one does.
candidate_calls AS (
  SELECT
    criteria.attempt_id,
    calls.call_index,
    coalesce(min(compared.held), 1) AS held
  FROM criteria
  INNER JOIN calls
    ON
      criteria.attempt_id = calls.attempt_id
      AND criteria.failed = calls.failed
      AND coalesce(criteria.tool_name = calls.tool_name, criteria.tool_name IS NULL)
  LEFT JOIN compared
    ON
      calls.attempt_id = compared.attempt_id
      AND calls.call_index = compared.call_index
      AND compared.place = 'result'
  GROUP BY criteria.attempt_id, calls.call_index
),

by_call AS (
  SELECT
    attempt_id,
    max(held) AS held
  FROM candidate_calls
  GROUP BY attempt_id
),

lost_results AS (
  SELECT DISTINCT attempt_id
  FROM calls
  WHERE
    result_missing
    AND NOT failed
),

-- A path that no result has does not hold, unless one that was not captured could have it.
by_state AS (
  SELECT
    wanted_values.attempt_id,
    min(coalesce(compared.held, if(lost_results.attempt_id IS NULL, -1, 0))) AS held
  FROM wanted_values
  LEFT JOIN compared USING (attempt_id, place, path)
  LEFT JOIN lost_results USING (attempt_id)
  WHERE wanted_values.place = 'state'
  GROUP BY wanted_values.attempt_id
),

asks_of_calls AS (
  SELECT DISTINCT attempt_id
  FROM wanted_values
  WHERE place = 'result'
),

-- An answer that was given but not captured is unknown; none at all is no answer.
lost_answers AS (
  SELECT DISTINCT trajectory_id AS attempt_id
  FROM steps
  WHERE
    kind = 'answer'
    AND content IS NULL
),

parts AS (
  SELECT
    criteria.attempt_id,
    CASE
      WHEN criteria.answer IS NULL AND criteria.answer_input IS NULL THEN 1
      WHEN trajectories.final_answer IS NULL THEN if(lost_answers.attempt_id IS NULL, -1, 0)
      WHEN criteria.answer_input IS NULL
        THEN if(regexp_matches(trajectories.final_answer, criteria.answer), 1, -1)
      WHEN bound.value IS NULL THEN 0
      ELSE if(contains(trajectories.final_answer, bound.value), 1, -1)
    END AS answer_held,
    CASE
      WHEN criteria.tool_name IS NULL AND asks_of_calls.attempt_id IS NULL THEN 1
      ELSE coalesce(by_call.held, -1)
    END AS call_held,
    coalesce(by_state.held, 1) AS state_held,
    CASE
      WHEN expression_results.attempt_id IS NULL THEN 1
      WHEN expression_results.held IS NULL THEN 0
      ELSE if(expression_results.held, 1, -1)
    END AS expression_held
  FROM criteria
  INNER JOIN trajectories ON criteria.attempt_id = trajectories.trajectory_id
  LEFT JOIN attempt_bindings AS bound
    ON criteria.attempt_id = bound.attempt_id AND criteria.answer_input = bound.name
  LEFT JOIN lost_answers ON criteria.attempt_id = lost_answers.attempt_id
  LEFT JOIN asks_of_calls ON criteria.attempt_id = asks_of_calls.attempt_id
  LEFT JOIN by_call ON criteria.attempt_id = by_call.attempt_id
  LEFT JOIN by_state ON criteria.attempt_id = by_state.attempt_id
  LEFT JOIN expression_results ON criteria.attempt_id = expression_results.attempt_id
)

SELECT
  attempt_id,
  CASE least(answer_held, call_held, state_held, expression_held)
    WHEN 1 THEN TRUE
    WHEN -1 THEN FALSE
  END AS success
FROM parts
ORDER BY attempt_id;
