-- Reasons of attempts, each with the issue that it belongs to.
--
-- The key of an issue depends on facts alone: the agent, kind and object of the reason, and for
-- failed calls the template of the error, which is its message without ids, numbers, paths and
-- quoted texts. Each of these becomes `<*>`; the code after `errno`, `http`, `status`, `exit code`
-- or `sqlstate` is put in brackets at the end. Source: docs/metrics.md, section 10.5.
--
-- Reads:
--   run_reasons
--   steps
--   trajectory_scores
-- Columns:
--   issue               VARCHAR  12 hex digits of the agent's name, kind, object and detail.
--   trajectory_id       VARCHAR  The attempt.
--   rank_in_run         INTEGER  As in run_reasons; one row for each of the two.
--   kind                VARCHAR  Kind of the reason.
--   object              VARCHAR  Object of the reason; NULL if nothing in particular.
--   detail              VARCHAR  Class and template of a failed call's error; NULL without one.
--   sentence            VARCHAR  Description of the failure.
--   step_trajectory_id  VARCHAR  Trajectory of the step; NULL without a step.
--   step_index          INTEGER  In that trajectory; NULL without a step.
--   span_id             VARCHAR  Span of the step; NULL without one.
--   source              VARCHAR  Source of the reason.
--   success             BOOLEAN  Whether the attempt succeeded; NULL if unknown.
--   task_id             VARCHAR  NULL if unknown.
--   release             VARCHAR  `service.version`; NULL if not sent.
--   agent_name          VARCHAR  NULL if none is named.
--   run_mode            VARCHAR  production | live | mocked; NULL if not declared.
--   date                DATE     Date the trace was first received, UTC.
-- Order:
--   trajectory_id, rank_in_run
WITH errors AS (
  SELECT
    run_reasons.trajectory_id,
    run_reasons.rank_in_run,
    nullif(
      trim(regexp_replace(left(steps.error_type, 80), '[\p{C}\p{Z}\s]+', ' ', 'g')), ''
    ) AS error_class,
    if(length(steps.tool_name) > 2, steps.tool_name, NULL) AS tool_name,
    left(
      coalesce(
        nullif(trim(steps.error_message), ''),
        nullif(trim(steps.result), ''),
        ''
      ),
      400
    ) AS given
  FROM run_reasons
  INNER JOIN steps
    ON
      run_reasons.step_trajectory_id = steps.trajectory_id
      AND run_reasons.step_index = steps.step_index
  WHERE run_reasons.kind IN ('crashed', 'denied', 'lost_call')
),

texts AS (
  SELECT DISTINCT
    tool_name,
    given
  FROM errors
  WHERE given <> ''
),

-- The message of JSON, nothing of JSON without one, else the first line; the tool's own name is
-- the same for each tool.
messages AS (
  SELECT
    tool_name,
    given,
    replace(
      coalesce(
        nullif(
          regexp_extract(
            given,
            '["''](?:error|message|detail|reason|msg)["'']\s*:\s*["'']([^"'']+)["'']',
            1
          ),
          ''
        ),
        if(regexp_matches(given, '^(?:\{|\[\s*["''{\[])'), '', split_part(given, chr(10), 1))
      ),
      coalesce(tool_name, chr(31)),
      '<tool>'
    ) AS message,
    regexp_extract(
      given,
      '(?i)\b(?:errno|http|status(?: code)?|exit (?:code|status)|sqlstate)[" :=#]{0,3}(\d{1,5})\b',
      1
    ) AS code
  FROM texts
),

without_urls AS (
  SELECT
    * REPLACE (
      regexp_replace(message, '(?i)\b[a-z][a-z0-9+.-]*://[^\s''"<>)\]]+', '<*>', 'g') AS message
    )
  FROM messages
),

without_lists AS (
  SELECT
    * REPLACE (
      regexp_replace(message, '\[[^\[\]]*,[^\[\]]*\]|\{[^{}]*\}', '<*>', 'g') AS message
    )
  FROM without_urls
),

without_quotes AS (
  SELECT
    * REPLACE (
      regexp_replace(
        message, '(?:\B|^)''[^''\n]*''(?:\B|$)|"[^"\n]*"|`[^`\n]*`', '<*>', 'g'
      ) AS message
    )
  FROM without_lists
),

without_paths AS (
  SELECT
    * REPLACE (
      regexp_replace(
        message, '(?:[A-Za-z]:)?(?:[\w.@~-]*[/\\])+[\w.@~-]+', '<*>', 'g'
      ) AS message
    )
  FROM without_quotes
),

-- Words with a digit, or with a number of three digits after an underscore.
without_ids AS (
  SELECT
    * REPLACE (
      regexp_replace(
        regexp_replace(message, '#(\w)', '\1', 'g'),
        '(^|[^\w])[\w.:+%$-]*?(?:[A-Za-z]+_\d{3,}|\d)[\w.:+%-]*',
        '\1<*>',
        'g'
      ) AS message
    )
  FROM without_paths
),

templates AS (
  SELECT
    tool_name,
    given,
    nullif(
      left(
        trim(
          regexp_replace(
            regexp_replace(message, '(<\*>)(?:[\s,;/|]+(?:and |or )?<\*>)+', '<*>', 'g'),
            '[\p{C}\p{Z}\s,;]+',
            ' ',
            'g'
          ) || coalesce(' [' || nullif(code, '') || ']', '')
        ),
        160
      ),
      ''
    ) AS template
  FROM without_ids
),

details AS (
  SELECT
    errors.trajectory_id,
    errors.rank_in_run,
    nullif(
      concat_ws(
        ': ',
        if(starts_with(templates.template, errors.error_class), NULL, errors.error_class),
        templates.template
      ),
      ''
    ) AS detail
  FROM errors
  LEFT JOIN templates
    ON
      errors.given = templates.given
      AND errors.tool_name IS NOT DISTINCT FROM templates.tool_name
)

SELECT
  if(
    details.detail IS NULL,
    run_reasons.key,
    left(
      md5(
        concat_ws(
          chr(31),
          coalesce(run_reasons.agent_name, ''),
          run_reasons.kind,
          coalesce(run_reasons.object, ''),
          details.detail
        )
      ),
      12
    )
  ) AS issue,
  run_reasons.trajectory_id,
  run_reasons.rank_in_run,
  run_reasons.kind,
  run_reasons.object,
  details.detail,
  run_reasons.sentence,
  run_reasons.step_trajectory_id,
  run_reasons.step_index,
  run_reasons.span_id,
  run_reasons.source,
  run_reasons.success,
  run_reasons.task_id,
  run_reasons.release,
  run_reasons.agent_name,
  trajectory_scores.run_mode,
  run_reasons.date
FROM run_reasons
LEFT JOIN trajectory_scores ON run_reasons.trajectory_id = trajectory_scores.trajectory_id
LEFT JOIN details
  ON
    run_reasons.trajectory_id = details.trajectory_id
    AND run_reasons.rank_in_run = details.rank_in_run
ORDER BY run_reasons.trajectory_id, run_reasons.rank_in_run;
