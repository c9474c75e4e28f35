-- Numbers of runs of each release whose scores need a remark in a report.
--
-- Source: docs/metrics.md, sections 4.1, 4.2, 5.1, 5.4 and 8.3.
--
-- Reads:
--   ambiguous_calls
--   sub_goals
--   trajectory_scores
-- Columns:
--   release             VARCHAR  One row for each release, agent_name and run_mode.
--   agent_name          VARCHAR  NULL if the trace names none.
--   run_mode            VARCHAR  As the trace says: production | live | mocked; else NULL.
--   unplanned           BIGINT   Runs whose planning quality is 0 since they show no plan.
--   attempts            BIGINT   Runs whose plan counts: no sub-agents', no killed ones.
--   without_planning    BIGINT   Runs among them without planning quality.
--   planning_reasons    STRUCT(reason VARCHAR, runs BIGINT)[]  Why, and for how many of them; most
--                                frequent first.
--   judged_by_people    BIGINT   Runs whose planning quality rests only on verdicts of people or
--                                other verifiers.
--   judged_by_models    BIGINT   Runs whose planning quality rests on a judge or an evaluation.
--   disputed            BIGINT   Runs on whose success verdicts of the deciding source disagree.
--   people_differ       BIGINT   Runs on whose success people decide, and differ.
--   disputed_sub_goals  BIGINT   Sub-goals on which people decide, and differ.
--   ambiguous_calls     BIGINT   Calls that rules give to several sub-goals.
--   served_by_people    BIGINT   Calls among them for which verdicts of people or other verifiers
--                                left one.
--   served_by_models    BIGINT   The same for verdicts of judges or evaluations.
-- Order:
--   agent_name, run_mode, release
WITH disputes AS (
  SELECT
    trajectory_id,
    count(*) AS sub_goals
  FROM sub_goals
  WHERE verdicts_disagree
  GROUP BY trajectory_id
),

ambiguous AS (
  SELECT
    trajectory_id,
    count(*) AS calls,
    count(*) FILTER (WHERE len(served) = 1 AND decided_by = 'verifier') AS by_people,
    count(*) FILTER (WHERE len(served) = 1 AND decided_by IN ('judge', 'evaluation'))
      AS by_models
  FROM ambiguous_calls
  GROUP BY trajectory_id
),

planned AS (
  SELECT
    *,
    coalesce(pq.reason NOT IN ('child_trajectory', 'killed_run', 'several_runs'), TRUE) AS counts
  FROM trajectory_scores
),

reasons AS (
  SELECT
    release,
    agent_name,
    run_mode,
    pq.reason,
    count(*) AS runs
  FROM planned
  WHERE counts AND pq.status <> 'scored'
  GROUP BY release, agent_name, run_mode, pq.reason
),

whys AS (
  SELECT
    release,
    agent_name,
    run_mode,
    list(struct_pack(reason := reason, runs := runs) ORDER BY runs DESC, reason ASC) AS reasons
  FROM reasons
  GROUP BY release, agent_name, run_mode
)

SELECT
  planned.release,
  planned.agent_name,
  planned.run_mode,
  count(*) FILTER (WHERE planned.pq.label = 'no_plan') AS unplanned,
  count(*) FILTER (WHERE planned.counts) AS attempts,
  count(*) FILTER (WHERE planned.counts AND planned.pq.status <> 'scored') AS without_planning,
  coalesce(any_value(whys.reasons), []) AS planning_reasons,
  count(*) FILTER (WHERE planned.pq.source = 'verifier') AS judged_by_people,
  count(*) FILTER (WHERE planned.pq.source IN ('judge', 'evaluation')) AS judged_by_models,
  count(*) FILTER (WHERE planned.success.label = 'verdicts_disagree') AS disputed,
  count(*) FILTER (WHERE planned.success.label = 'disputed') AS people_differ,
  coalesce(sum(disputes.sub_goals), 0)::BIGINT AS disputed_sub_goals,
  coalesce(sum(ambiguous.calls), 0)::BIGINT AS ambiguous_calls,
  coalesce(sum(ambiguous.by_people), 0)::BIGINT AS served_by_people,
  coalesce(sum(ambiguous.by_models), 0)::BIGINT AS served_by_models
FROM planned
LEFT JOIN disputes ON planned.trajectory_id = disputes.trajectory_id
LEFT JOIN ambiguous ON planned.trajectory_id = ambiguous.trajectory_id
LEFT JOIN whys
  ON
    planned.release IS NOT DISTINCT FROM whys.release
    AND planned.agent_name IS NOT DISTINCT FROM whys.agent_name
    AND planned.run_mode IS NOT DISTINCT FROM whys.run_mode
GROUP BY planned.release, planned.agent_name, planned.run_mode
ORDER BY planned.agent_name, planned.run_mode, planned.release;
