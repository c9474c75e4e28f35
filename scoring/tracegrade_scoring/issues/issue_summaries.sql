-- Each issue in each run mode: its facts, how many runs showed it, and the newest of them.
--
-- Kind, object and detail are its own; those of a merged issue count where no run has its own.
--
-- Reads:
--   issue_attempts
-- Columns:
--   issue               VARCHAR    Key of the issue; one row for each issue and run_mode.
--   run_mode            VARCHAR    NULL if not declared.
--   agent_name          VARCHAR    NULL if none is named.
--   kind                VARCHAR    Kind of the reason.
--   object              VARCHAR    Object of the reason; NULL if nothing in particular.
--   detail              VARCHAR    Class and template of the error; NULL without one.
--   runs                BIGINT     Runs that showed it; at least 1.
--   failed_runs         BIGINT     Runs of these that failed.
--   tasks               BIGINT     Known tasks of these runs.
--   first_date          DATE       First date on which the trace of one was received, UTC.
--   last_date           DATE       The last such date.
--   first_started       TIMESTAMP  Start of the earliest of them, UTC; NULL if none is known.
--   last_started        TIMESTAMP  Start of the latest of them, UTC; NULL if none is known.
--   trajectory_id       VARCHAR    The newest of them.
--   sentence            VARCHAR    Description of the failure of that run.
--   step_trajectory_id  VARCHAR    Trajectory of the step there; NULL without a step.
--   step_index          INTEGER    In that trajectory; NULL without a step.
-- Order:
--   issue, run_mode
SELECT
  issue,
  run_mode,
  min(agent_name) AS agent_name,
  arg_min(kind, (is_merged, kind, object, detail)) AS kind,
  arg_min_null(object, (is_merged, kind, object, detail)) AS object,
  arg_min_null(detail, (is_merged, kind, object, detail)) AS detail,
  count(*) AS runs,
  count(*) FILTER (WHERE success IS FALSE) AS failed_runs,
  count(DISTINCT task_id) AS tasks,
  min(date) AS first_date,
  max(date) AS last_date,
  min(started) AS first_started,
  max(started) AS last_started,
  arg_max(trajectory_id, (date, coalesce(started, date), trajectory_id)) AS trajectory_id,
  arg_max(sentence, (date, coalesce(started, date), trajectory_id)) AS sentence,
  arg_max_null(step_trajectory_id, (date, coalesce(started, date), trajectory_id))
    AS step_trajectory_id,
  arg_max_null(step_index, (date, coalesce(started, date), trajectory_id)) AS step_index
FROM issue_attempts
GROUP BY issue, run_mode
ORDER BY issue, run_mode;
