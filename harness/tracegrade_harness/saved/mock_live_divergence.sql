-- Do mocked cases still agree with live ones? Both modes of each case, side by side.
--
-- Rates are of undisturbed trials that verifiers could judge; their intervals are Wilson's, 95 %.
--
-- Reads:
--   harness_trials
--   trajectories
-- Columns:
--   suite            VARCHAR  One row for each case that was run in both modes.
--   task_id          VARCHAR
--   agent_name       VARCHAR
--   release          VARCHAR  NULL if the suite names none.
--   mocked_trials    BIGINT   Judged; all runs of the harness together.
--   live_trials      BIGINT   As mocked_trials.
--   mocked_unjudged  BIGINT   Trials that were not judged, such as for a missing tape entry.
--   live_unjudged    BIGINT   As mocked_unjudged.
--   mocked_rate      DOUBLE   Share that succeeded, 0 to 1; NULL if none was judged.
--   mocked_low       DOUBLE   Lower end of its interval; NULL if there is no rate.
--   mocked_high      DOUBLE   Upper end.
--   live_rate        DOUBLE   As mocked_rate.
--   live_low         DOUBLE   Lower end of its interval.
--   live_high        DOUBLE   Upper end.
--   rate_difference  DOUBLE   mocked_rate - live_rate, -1 to 1: above 0, the tape flatters.
--   is_apart         BOOLEAN  The intervals do not overlap, so chance is unlikely; NULL without
--                             both.
--   mocked_steps     DOUBLE   Mean steps of a trial, judged or not.
--   live_steps       DOUBLE   As mocked_steps.
--   step_difference  DOUBLE   mocked_steps - live_steps.
--   mocked_tokens    DOUBLE   Mean tokens of trials with known tokens; NULL if there are none.
--   live_tokens      DOUBLE   As mocked_tokens.
--   live_usd         DOUBLE   Mean US dollars of trials with known cost; tapes cost nothing.
-- Order:
--   |rate_difference| DESC NULLS LAST, |step_difference| DESC, suite, task_id, agent_name,
--   release
WITH modes AS (
  SELECT
    trials.suite,
    trials.task_id,
    trials.agent_name,
    trials.release,
    trajectories.run_mode,
    count(trials.success) AS trials,
    count(*) - count(trials.success) AS unjudged,
    count_if(trials.success) / nullif(count(trials.success), 0) AS rate,
    avg(trajectories.step_count) AS steps,
    avg(trials.tokens) AS tokens,
    avg(trials.usd ORDER BY trials.usd) AS usd
  FROM harness_trials AS trials
  INNER JOIN trajectories ON trials.trajectory_id = trajectories.trajectory_id
  WHERE trials.kill_point IS NULL AND trajectories.run_mode IN ('live', 'mocked')
  GROUP BY ALL
),

centered AS (
  -- 3.8415 is the square of 1.96, more exactly.
  SELECT
    *,
    (rate + 3.841458820694124 / (2 * trials)) / (1 + 3.841458820694124 / trials) AS center,
    sqrt(
      3.841458820694124
      * (rate * (1 - rate) / trials + 3.841458820694124 / (4 * trials * trials))
    ) / (1 + 3.841458820694124 / trials) AS half
  FROM modes
),

bounded AS (
  SELECT
    *,
    if(rate IS NULL, NULL, greatest(0, center - half)) AS low,
    if(rate IS NULL, NULL, least(1, center + half)) AS high
  FROM centered
)

SELECT
  mocked.suite,
  mocked.task_id,
  mocked.agent_name,
  mocked.release,
  mocked.trials AS mocked_trials,
  live.trials AS live_trials,
  mocked.unjudged AS mocked_unjudged,
  live.unjudged AS live_unjudged,
  mocked.rate AS mocked_rate,
  mocked.low AS mocked_low,
  mocked.high AS mocked_high,
  live.rate AS live_rate,
  live.low AS live_low,
  live.high AS live_high,
  mocked.rate - live.rate AS rate_difference,
  mocked.low > live.high OR live.low > mocked.high AS is_apart,
  mocked.steps AS mocked_steps,
  live.steps AS live_steps,
  mocked.steps - live.steps AS step_difference,
  mocked.tokens AS mocked_tokens,
  live.tokens AS live_tokens,
  live.usd AS live_usd
FROM bounded AS mocked
INNER JOIN bounded AS live
  ON
    mocked.suite = live.suite
    AND mocked.task_id = live.task_id
    AND mocked.agent_name = live.agent_name
    AND mocked.release IS NOT DISTINCT FROM live.release
WHERE mocked.run_mode = 'mocked' AND live.run_mode = 'live'
ORDER BY
  abs(rate_difference) DESC NULLS LAST,
  abs(step_difference) DESC,
  mocked.suite ASC,
  mocked.task_id ASC,
  mocked.agent_name ASC,
  mocked.release ASC;
