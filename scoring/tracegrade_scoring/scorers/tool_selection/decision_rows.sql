-- Every decision point of each attempt, made or missed, and whether the pick was correct.
--
-- Source: [Triangle], "Tool-Selection Accuracy" (criteria a, b and c, first picks only);
-- docs/metrics.md, section 1.3. A criterion is NULL where it does not apply. Unknown is not wrong:
-- a pick is wrong as soon as one criterion fails, and unknown only if none fails and b cannot be
-- read. A missing call may be a call that was not recorded. If no call was expected and none was
-- made, that is one right decision.
--
-- Reads:
--   attempt_members
--   attempts
--   better_alternatives
--   call_validity
--   calls
--   decision_points
--   endings
--   calls_fitting_expected
--   attempts_with_unrecorded_calls
--   steps
--   task_expected
--   tasks
--   wrong_arguments
-- Columns:
--   trajectory_id       INTEGER    The attempt.
--   decision_index      INTEGER    Dense from 0; one row for each and trajectory_id.
--   decision            VARCHAR    The task's name for it, else the span's; NULL without either.
--   picked_tool         VARCHAR    NULL where no call was made.
--   expected_tool       VARCHAR    NULL if none is expected there, or any of an effect.
--   correct             BOOLEAN    NULL if not counted, or if it cannot be known.
--   failed_criteria     VARCHAR[]  Those of a (tool), b (arguments) and c (a better one was
--                                  offered) that failed.
--   criteria            VARCHAR[]  Those that applied.
--   step_trajectory_id  INTEGER    Root or sub-agent that made it; NULL where no call was made.
--   step_index          INTEGER    Step of the first call in that trajectory; NULL where none was
--                                  made.
--   span_id             VARCHAR    Span of the first call; NULL where none was made.
--   wrong_arguments     STRUCT(argument VARCHAR, sent VARCHAR, expected VARCHAR)[]  Values that
--                                  differ from the expected ones; empty if none.
--   reason              VARCHAR    Why it is wrong, unknown or not counted; NULL if correct.
--   missed              BOOLEAN    Expected, but no call was made for it.
--   counted             BOOLEAN    It is in the denominator.
--   calls               INTEGER    Calls of the point; 0 where none was made.
--   call_index          INTEGER    Index of the first call in the attempt; NULL where none was
--                                  made.
--   unknown_because     VARCHAR    content_missing | input_unbound, where correct cannot be known.
--   effect              VARCHAR    Effect of the picked tool; NULL if unknown, or where no call
--                                  was made.
--   expected_effect     VARCHAR    Effect that the task requires of the tool; NULL if it requires
--                                  none.
--   alternative         VARCHAR    The better tool that was offered, where criterion c failed.
--   schema_broken       BOOLEAN    The arguments of the first call violate its schema.
-- Order:
--   trajectory_id, decision_index
WITH given_pairs AS (
  FROM calls_fitting_expected
  WHERE arguments_given
),

picks AS (
  SELECT
    points.attempt_id,
    points.decision_index,
    points.position,
    points.calls,
    points.tool_fits,
    calls.call_index,
    calls.tool_name,
    calls.trajectory_id AS step_trajectory_id,
    calls.step_index,
    calls.span_id,
    calls.effect,
    calls.cost,
    expected.tool_name AS expected_tool,
    expected.effect AS expected_effect,
    coalesce(expected.decision, calls.decision) AS decision,
    pairs.differences[1] AS first_difference,
    coalesce(wrong_arguments.wrong_arguments, []) AS wrong_arguments,
    validity.message,
    better.alternative,
    better.effect AS better_effect,
    better.cost AS better_cost,
    -- Criterion a: the expected tool, or no expectation where the list is complete.
    CASE
      WHEN points.position IS NULL
        THEN if(tasks.has_expected AND tasks.expected_complete = 'true', FALSE, NULL)
      ELSE
        points.tool_fits
        AND coalesce(calls.effect = expected.effect, expected.effect IS NULL)
    END AS a,
    -- Criterion b, in two halves: the schema and the task's own arguments.
    validity.attempt_id IS NOT NULL OR pairs.attempt_id IS NOT NULL AS b_applies,
    coalesce(NOT validity.valid, FALSE) AS schema_broken,
    coalesce(NOT pairs.arguments_fit, FALSE) AS arguments_differ,
    (validity.attempt_id IS NOT NULL AND validity.valid IS NULL)
    OR (pairs.attempt_id IS NOT NULL AND pairs.arguments_fit IS NULL) AS b_unknown,
    coalesce(pairs.unknown_because, 'content_missing') AS unknown_because,
    -- Criterion c.
    CASE
      WHEN better.attempt_id IS NULL THEN NULL
      ELSE better.alternative IS NULL OR coalesce(calls.tool_name = expected.tool_name, FALSE)
    END AS c
  FROM calls
  INNER JOIN decision_points AS points USING (attempt_id, call_index)
  INNER JOIN attempts USING (attempt_id)
  LEFT JOIN tasks USING (task_id)
  LEFT JOIN task_expected AS expected USING (task_id, position)
  LEFT JOIN given_pairs AS pairs USING (attempt_id, call_index, position)
  LEFT JOIN wrong_arguments USING (attempt_id, call_index, position)
  LEFT JOIN call_validity AS validity USING (attempt_id, call_index)
  LEFT JOIN better_alternatives AS better USING (attempt_id, call_index)
),

judged AS (
  SELECT
    *,
    schema_broken OR arguments_differ AS b_failed,
    a IS NOT NULL OR b_applies OR c IS NOT NULL AS counted,
    CASE
      WHEN a IS FALSE OR schema_broken OR arguments_differ OR c IS FALSE THEN FALSE
      WHEN b_unknown THEN NULL
      WHEN a IS NOT NULL OR b_applies OR c IS NOT NULL THEN TRUE
    END AS correct
  FROM picks
),

named AS (
  SELECT
    *,
    -- Values that differ inside the first argument that does; empty if it is no object or list.
    list_filter(
      wrong_arguments,
      LAMBDA each: starts_with(each.argument, '$.' || first_difference['key'] || '.')
      OR starts_with(each.argument, '$.' || first_difference['key'] || '[')
    ) AS leaves,
    coalesce(tool_name, 'an unnamed tool') AS picked
  FROM judged
),

made AS (
  SELECT
    attempt_id,
    decision_index,
    decision,
    tool_name AS picked_tool,
    expected_tool,
    correct,
    list_filter(
      [if(a IS FALSE, 'a', NULL), if(b_failed, 'b', NULL), if(c IS FALSE, 'c', NULL)],
      LAMBDA criterion: criterion IS NOT NULL
    ) AS failed_criteria,
    list_filter(
      [if(a IS NULL, NULL, 'a'), if(b_applies, 'b', NULL), if(c IS NULL, NULL, 'c')],
      LAMBDA criterion: criterion IS NOT NULL
    ) AS criteria,
    step_trajectory_id,
    step_index,
    span_id,
    if(arguments_differ, wrong_arguments, []) AS wrong_arguments,
    CASE
      WHEN correct IS NOT TRUE
        THEN concat_ws(
          '; ',
          CASE
            WHEN a IS NOT FALSE THEN NULL
            WHEN position IS NULL THEN concat('picked ', picked, ' where no call was expected')
            WHEN tool_fits
              THEN concat(
                tool_name, ' has effect ', coalesce(effect, 'unknown'), ', expected ',
                expected_effect
              )
            ELSE
              concat(
                'picked ', picked, ', expected ',
                coalesce(expected_tool, 'any ' || expected_effect),
                if(
                  plain_tool(tool_name) = expected_tool,
                  ': not the same, since the run or the file knows another tool of that name',
                  ''
                )
              )
          END,
          if(
            schema_broken,
            concat('arguments of ', tool_name, ' violate its schema: ', message),
            NULL
          ),
          if(
            arguments_differ,
            if(
              len(leaves) = 0,
              concat(
                'argument ', first_difference['key'], ' of ', tool_name, ' is ',
                coalesce(first_difference.sent, 'missing'), ', expected ',
                first_difference.expected
              ),
              concat(
                'argument ', leaves[1].argument[3:], ' of ', tool_name, ' is ',
                coalesce(leaves[1].sent, 'missing'), ', expected ',
                coalesce(leaves[1].expected, 'nothing there'),
                CASE
                  WHEN len(leaves) > 1
                    THEN concat(
                      ', and ', len(leaves) - 1,
                      if(len(leaves) = 2, ' more value differs', ' more values differ')
                    )
                END
              )
            ),
            NULL
          ),
          CASE
            WHEN c IS FALSE
              THEN concat(
                alternative, ' was offered and does the same with effect ',
                coalesce(better_effect, 'unknown'), ' and cost ',
                coalesce(format('{:g}', better_cost), 'unknown'), ', ', tool_name, ' has ',
                coalesce(effect, 'unknown'), ' and ', coalesce(format('{:g}', cost), 'unknown')
              )
          END,
          CASE
            WHEN b_unknown
              THEN concat('arguments of ', tool_name, ' cannot be compared: ', unknown_because)
            WHEN NOT counted THEN 'there is nothing to judge it by'
          END
        )
    END AS reason,
    FALSE AS missed,
    counted,
    calls,
    call_index,
    if(b_unknown, unknown_because, NULL) AS unknown_because,
    effect,
    expected_effect,
    if(c IS FALSE, alternative, NULL) AS alternative,
    schema_broken
  FROM named
),

-- Called tools whose calls each have a different meaning.
other_kinds AS (
  SELECT
    attempt_members.attempt_id,
    steps.tool_name,
    min(steps.kind) AS kind
  FROM steps
  INNER JOIN attempt_members USING (trajectory_id)
  WHERE steps.kind IN ('plan', 'handoff', 'answer') AND steps.tool_name IS NOT NULL
  GROUP BY attempt_members.attempt_id, steps.tool_name
),

-- Names that tools of several servers share, so that the name alone does not identify the server.
of_servers AS (
  SELECT
    attempt_id,
    plain_tool(tool_name) AS tool_name,
    string_agg(DISTINCT tool_name, ' and ' ORDER BY tool_name) AS names
  FROM calls
  WHERE starts_with(tool_name, 'mcp__')
  GROUP BY attempt_id, plain_tool(tool_name)
),

lost_calls AS (
  SELECT
    attempt_id,
    'content_missing' AS lost
  FROM attempts_with_unrecorded_calls
),

missed AS (
  SELECT
    points.attempt_id,
    points.decision_index,
    expected.decision,
    NULL AS picked_tool,
    expected.tool_name AS expected_tool,
    if(coalesce(endings.ending, lost_calls.lost) IS NULL, FALSE, NULL) AS correct,
    if(coalesce(endings.ending, lost_calls.lost) IS NULL, ['a'], []) AS failed_criteria,
    ['a'] AS criteria,
    NULL AS step_trajectory_id,
    NULL AS step_index,
    NULL AS span_id,
    [] AS wrong_arguments,
    concat(
      'no call was made where ', coalesce(expected.tool_name, 'any ' || expected.effect),
      ' was expected',
      '; it is of kind ' || other_kinds.kind || ', declare tools.' || expected.tool_name
      || '.kind: tool_call',
      '; ' || of_servers.names
      || ' may be meant, but the run or the file knows another tool of that name',
      if(
        endings.ending = 'unfinished',
        ', but the end of the run has not come',
        ', but the run ended early: ' || endings.ending
      ),
      if(lost_calls.lost IS NULL, NULL, ', but calls of the run were not recorded')
    ) AS reason,
    TRUE AS missed,
    endings.ending IS NULL AS counted,
    points.calls,
    NULL AS call_index,
    if(endings.ending IS NULL, lost_calls.lost, NULL) AS unknown_because,
    NULL AS effect,
    expected.effect AS expected_effect,
    NULL AS alternative,
    FALSE AS schema_broken
  FROM decision_points AS points
  INNER JOIN attempts USING (attempt_id)
  INNER JOIN task_expected AS expected USING (task_id, position)
  LEFT JOIN endings ON points.attempt_id = endings.trajectory_id
  LEFT JOIN other_kinds
    ON
      points.attempt_id = other_kinds.attempt_id
      AND expected.tool_name = other_kinds.tool_name
  LEFT JOIN of_servers
    ON
      points.attempt_id = of_servers.attempt_id AND expected.tool_name = of_servers.tool_name
  LEFT JOIN lost_calls ON points.attempt_id = lost_calls.attempt_id
  WHERE points.call_index IS NULL
),

no_calls AS (
  SELECT
    points.attempt_id,
    points.decision_index,
    NULL AS decision,
    NULL AS picked_tool,
    NULL AS expected_tool,
    if(coalesce(endings.ending, lost_calls.lost) IS NULL, TRUE, NULL) AS correct,
    [] AS failed_criteria,
    ['a'] AS criteria,
    NULL AS step_trajectory_id,
    NULL AS step_index,
    NULL AS span_id,
    [] AS wrong_arguments,
    'no call was made or expected, but '
    || coalesce(
      if(
        endings.ending = 'unfinished',
        'the end of the run has not come',
        'the run ended early: ' || endings.ending
      ),
      if(lost_calls.lost IS NULL, NULL, 'calls of the run were not recorded')
    ) AS reason,
    FALSE AS missed,
    endings.ending IS NULL AS counted,
    points.calls,
    NULL AS call_index,
    if(endings.ending IS NULL, lost_calls.lost, NULL) AS unknown_because,
    NULL AS effect,
    NULL AS expected_effect,
    NULL AS alternative,
    FALSE AS schema_broken
  FROM decision_points AS points
  LEFT JOIN endings ON points.attempt_id = endings.trajectory_id
  LEFT JOIN lost_calls ON points.attempt_id = lost_calls.attempt_id
  WHERE
    points.call_index IS NULL
    AND points.position IS NULL
),

rows AS (
  FROM made
  UNION ALL
  FROM missed
  UNION ALL
  FROM no_calls
)

SELECT
  attempt_id AS trajectory_id,
  decision_index,
  decision,
  picked_tool,
  expected_tool,
  correct,
  failed_criteria,
  criteria,
  step_trajectory_id,
  step_index,
  span_id,
  wrong_arguments,
  left(reason, 500) AS reason,
  missed,
  counted,
  calls,
  call_index,
  unknown_because,
  effect,
  expected_effect,
  alternative,
  schema_broken
FROM rows
ORDER BY trajectory_id, decision_index;
