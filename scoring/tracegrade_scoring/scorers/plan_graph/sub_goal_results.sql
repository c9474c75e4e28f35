-- The sub-goals of the chosen variant of each example, and whether their order was kept.
--
-- Unknown (NULL) is what content that was not captured decides. A prerequisite is met if it was
-- completed, or held before the first call and still did at the end.
-- Source: docs/metrics.md, sections 4.3 and 4.4.
--
-- Reads:
--   graph_nodes
--   graph_prerequisites
--   graph_variants
--   sub_goal_attribution
--   sub_goal_states
--   sub_goal_variants
-- Needs:
--   sub_goal_variants
-- Columns:
--   example               INTEGER    One row for each example and sub_goal.
--   sub_goal              VARCHAR    A counted sub-goal of the chosen variant.
--   critical              BOOLEAN    The task cannot succeed without it.
--   weight                DOUBLE     Greater than 0.
--   attempted             BOOLEAN    At least one action served it; NULL if unknown.
--   completed             BOOLEAN    Attempted, and its criterion held at the end, or NULL.
--   met                   BOOLEAN    Completed, or held before the first call and at the end.
--   ever_completed        BOOLEAN    Attempted, and its criterion held from then on or later.
--   regressed             BOOLEAN    Ever completed, but not at the end; NULL if unknown.
--   deps                  VARCHAR[]  Its direct prerequisites, sorted; empty if it has none.
--   deps_met              BOOLEAN    Its direct prerequisites were met; true if it has none.
--   all_deps_met          BOOLEAN    All of its prerequisites were met; true if it has none.
--   dependency_violation  BOOLEAN    First completed before a direct prerequisite was.
--   attribution           VARCHAR    span | rule | verdict (that left one of several) |
--                                    ambiguous (all of its calls serve others too). NULL if
--                                    not attempted.
--   completion_source     VARCHAR    rule (its criterion) | status (of a call that serves it) |
--                                    judge (a verdict).
--   first_completed       INTEGER    Call after which it was first completed, from 0; the number
--                                    of calls: at the end. NULL if never or unknown.
--   pre_satisfied         BOOLEAN    Its criterion held before the first call.
--   dependent             BOOLEAN    It has a prerequisite and was once completed.
--   position              INTEGER    Its position in the task file, from 0.
-- Order:
--   none
WITH chosen AS (
  SELECT
    sub_goal_variants.variant,
    sub_goal_states.*,
    graph_nodes.critical,
    graph_nodes.weight,
    graph_nodes.has_criterion,
    sub_goal_states.completed OR (sub_goal_states.pre_satisfied AND sub_goal_states.holds) AS met
  FROM sub_goal_variants
  INNER JOIN sub_goal_states USING (example)
  INNER JOIN graph_variants
    ON
      sub_goal_variants.task_id = graph_variants.task_id
      AND sub_goal_variants.variant = graph_variants.variant
      AND sub_goal_states.sub_goal = graph_variants.sub_goal
  INNER JOIN graph_nodes
    ON
      sub_goal_variants.task_id = graph_nodes.task_id
      AND sub_goal_states.sub_goal = graph_nodes.sub_goal
),

pairs AS (
  SELECT
    chosen.example,
    chosen.sub_goal,
    graph_prerequisites.prerequisite,
    graph_prerequisites.direct,
    required.met,
    CASE
      -- Without evidence for each step only the end can be compared.
      WHEN NOT (chosen.by_step AND required.by_step) THEN chosen.completed AND NOT required.met
      WHEN chosen.first_completed IS NULL THEN chosen.ever_completed
      WHEN required.first_completed <= chosen.first_completed THEN FALSE
      WHEN required.ever_completed IS NOT NULL THEN TRUE
    END AS violated
  FROM chosen
  INNER JOIN graph_prerequisites USING (task_id, variant, sub_goal)
  INNER JOIN chosen AS required
    ON
      chosen.example = required.example
      AND graph_prerequisites.prerequisite = required.sub_goal
),

dependencies AS (
  SELECT
    example,
    sub_goal,
    list(prerequisite ORDER BY prerequisite) FILTER (WHERE direct) AS deps,
    CASE
      WHEN bool_or(direct AND NOT met) THEN FALSE
      WHEN bool_and(met IS NOT NULL OR NOT direct) THEN TRUE
    END AS deps_met,
    CASE
      WHEN bool_or(NOT met) THEN FALSE
      WHEN count(met) = count(*) THEN TRUE
    END AS all_deps_met,
    CASE
      WHEN bool_or(direct AND violated) THEN TRUE
      WHEN bool_and(violated IS NOT NULL OR NOT direct) THEN FALSE
    END AS dependency_violation
  FROM pairs
  GROUP BY example, sub_goal
),

serving AS (
  SELECT
    chosen.example,
    chosen.sub_goal,
    sub_goal_attribution.call_index,
    sub_goal_attribution.attribution
  FROM chosen
  INNER JOIN sub_goal_attribution
    ON
      chosen.example = sub_goal_attribution.attempt_id
      AND chosen.sub_goal = sub_goal_attribution.sub_goal
),

-- A call is ambiguous if rules give it to several sub-goals of the variant.
shared_calls AS (
  SELECT
    example,
    call_index
  FROM serving
  GROUP BY example, call_index
  HAVING count(*) > 1
),

attributions AS (
  SELECT
    serving.example,
    serving.sub_goal,
    CASE
      WHEN bool_or(serving.attribution = 'span') THEN 'span'
      WHEN bool_or(shared_calls.example IS NULL AND serving.attribution = 'rule') THEN 'rule'
      WHEN bool_or(serving.attribution = 'verdict') THEN 'verdict'
      ELSE 'ambiguous'
    END AS attribution
  FROM serving
  LEFT JOIN shared_calls USING (example, call_index)
  GROUP BY serving.example, serving.sub_goal
)

SELECT  -- noqa: ST06
  chosen.example,
  chosen.sub_goal,
  chosen.critical,
  chosen.weight,
  chosen.attempted,
  chosen.completed,
  chosen.met,
  chosen.ever_completed,
  chosen.regressed,
  coalesce(dependencies.deps, []) AS deps,
  CASE WHEN dependencies.example IS NULL THEN TRUE ELSE dependencies.deps_met END AS deps_met,
  CASE WHEN dependencies.example IS NULL THEN TRUE ELSE dependencies.all_deps_met END
    AS all_deps_met,
  CASE WHEN dependencies.example IS NULL THEN FALSE ELSE dependencies.dependency_violation END
    AS dependency_violation,
  CASE WHEN chosen.attempted THEN coalesce(attributions.attribution, 'rule') END AS attribution,
  CASE
    WHEN chosen.judged THEN 'judge'
    WHEN chosen.has_criterion THEN 'rule'
    ELSE 'status'
  END AS completion_source,
  chosen.first_completed,
  chosen.pre_satisfied,
  dependencies.example IS NOT NULL AND chosen.ever_completed AS dependent,
  chosen.position
FROM chosen
LEFT JOIN dependencies USING (example, sub_goal)
LEFT JOIN attributions USING (example, sub_goal);
