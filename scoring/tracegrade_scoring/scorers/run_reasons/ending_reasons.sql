-- Endings of attempts that did not end by themselves, or ended without an answer.
--
-- A missing answer is known only if texts of the run were captured. Source: docs/metrics.md,
-- section 9.6.
--
-- Reads:
--   attempts
--   attempts_with_unrecorded_answers
--   calls
--   endings
--   steps
--   trajectories
--   verdict_readings
-- Needs:
--   endings or attempts WHERE success IS FALSE
-- Columns:
--   attempt_id          INTEGER  The root trajectory.
--   precedence          INTEGER  Precedence of the kind, from the first.
--   kind                VARCHAR  crashed | budget | no_answer.
--   object              VARCHAR  The tool of the call that crashed; the limit, in the words of the
--                                verdict, else of the trace; `end` for a run without an end; or
--                                NULL.
--   sentence            VARCHAR  What happened.
--   step_trajectory_id  INTEGER  The root or sub-agent that made the call; NULL without a step.
--   step_index          INTEGER  In that trajectory; NULL without a step.
--   span_id             VARCHAR  Span of the step; NULL without one.
--   only_reads          BOOLEAN  FALSE.
--   position            INTEGER  NULL.
--   source              VARCHAR  Source of the verdict that a limit ended it; else static.
-- Order:
--   none
WITH limited AS (
  SELECT
    attempt_id,
    min(source) AS source,
    -- The harness records a trial as JSON, which names the limit; other sources use words.
    min(
      nullif(
        one_line(
          if(starts_with(evidence, '{'), try_cast(evidence AS JSON) ->> '$.reason', evidence)
        ),
        ''
      )
    ) AS limit_text
  FROM verdict_readings
  WHERE by_limit
  GROUP BY attempt_id
),

cut_off AS (
  SELECT
    attempts.attempt_id,
    endings.ending,
    limited.source AS limit_source,
    coalesce(
      limited.limit_text,
      -- Only the words by which `endings` recognizes a limit name one.
      nullif(
        one_line(
          array_to_string(
            list_filter(
              string_split(
                regexp_replace(trajectories.finish_reasons, '[\[\]" ]', '', 'g'), ','
              ),
              LAMBDA word: names_limit(word) -- noqa: RF02
            ),
            ', '
          )
        ),
        ''
      )
    ) AS limit_text
  FROM endings
  INNER JOIN attempts ON endings.trajectory_id = attempts.attempt_id
  INNER JOIN trajectories USING (trajectory_id)
  LEFT JOIN limited ON attempts.attempt_id = limited.attempt_id
  WHERE
    endings.ending IN ('crashed', 'budget')
    OR (endings.ending = 'unfinished' AND attempts.success IS FALSE)
),

last_calls AS (
  SELECT
    calls.attempt_id,
    count(*) AS calls,
    arg_max(
      struct_pack(
        tool := coalesce(calls.tool_name, 'an unnamed tool'),
        failed := calls.failed,
        result := calls.result,
        trajectory_id := calls.trajectory_id,
        step_index := calls.step_index,
        span_id := calls.span_id
      ),
      calls.call_index
    ) AS last_call
  FROM calls
  SEMI JOIN cut_off USING (attempt_id)
  GROUP BY calls.attempt_id
),

ends AS (
  SELECT
    cut_off.*,
    concat(
      'after ', coalesce(last_calls.calls, 0), if(last_calls.calls = 1, ' call', ' calls')
    ) AS after_calls,
    CASE
      WHEN cut_off.ending = 'crashed' AND last_calls.last_call.failed THEN last_calls.last_call
    END AS crashing
  FROM cut_off
  LEFT JOIN last_calls USING (attempt_id)
),

unanswered AS (
  SELECT attempts.attempt_id
  FROM attempts
  ANTI JOIN endings ON attempts.attempt_id = endings.trajectory_id
  ANTI JOIN steps ON attempts.attempt_id = steps.trajectory_id AND steps.kind = 'answer'
  ANTI JOIN attempts_with_unrecorded_answers USING (attempt_id)
  WHERE
    attempts.success IS FALSE
    AND attempts.final_answer IS NULL
    AND attempts.user_input IS NOT NULL
)

SELECT
  attempt_id,
  CASE ending WHEN 'crashed' THEN 3 WHEN 'budget' THEN 4 ELSE 20 END AS precedence,
  if(ending = 'unfinished', 'no_answer', ending) AS kind,
  CASE ending
    WHEN 'crashed' THEN crashing.tool
    WHEN 'budget' THEN nullif(clipped(trim(split_part(limit_text, ':', 1)), 40), '')
    ELSE 'end'
  END AS object,
  CASE
    WHEN ending = 'budget'
      THEN concat('stopped at a limit ', '(' || clipped(limit_text, 40) || ') ', after_calls)
    WHEN crashing IS NOT NULL
      THEN concat_ws(
        ': ', concat('crashed after ', clipped(crashing.tool, 40), ' failed'),
        error_line(crashing.result)
      )
    WHEN ending = 'crashed'
      THEN concat('crashed ', after_calls, ': its root span is an error')
    ELSE concat('the run has no end ', after_calls)
  END AS sentence,
  crashing.trajectory_id AS step_trajectory_id,
  crashing.step_index,
  crashing.span_id,
  FALSE AS only_reads,
  NULL::INTEGER AS position,
  if(ending = 'budget', coalesce(limit_source, 'static'), 'static') AS source
FROM ends
UNION ALL
SELECT
  attempt_id,
  20 AS precedence,
  'no_answer' AS kind,
  NULL AS object,
  'ended without an answer' AS sentence,
  NULL AS step_trajectory_id,
  NULL AS step_index,
  NULL AS span_id,
  FALSE AS only_reads,
  NULL AS position,
  'static' AS source
FROM unanswered;
