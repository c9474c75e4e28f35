-- Release, agent, task and other dimensions of runs, by their labels.
--
-- A dimension has the value of its first source that has one; a sub-agent's run without a value
-- has that of its outermost run. Without any, a run keeps its release, agent and task. Labels keep
-- what a run had before under `built:NAME`, so that another mapping begins with it.
--
-- Reads:
--   dimension_rungs
--   unlabeled_runs
-- Parameters:
--   $mapped  BOOLEAN  A mapping file is in force; else only runs without a release change.
-- Columns:
--   trajectory_id  VARCHAR                One row each.
--   release        VARCHAR                NULL if no source has a value.
--   agent_name     VARCHAR                NULL if no agent is named.
--   task_id        VARCHAR                NULL if no task is named.
--   labels         MAP(VARCHAR, VARCHAR)  Sorted by name; NULL of an earlier version's run.
--   dimensions     MAP(VARCHAR, VARCHAR)  Other dimensions, sorted by name; NULL without a file.
--   flags          VARCHAR[]              With `mixed_release` if the run has several releases.
-- Order:
--   none
WITH RECURSIVE runs AS (
  SELECT
    trajectory_id,
    parent_trajectory_id,
    labels,
    model_usage,
    flags,
    $mapped::BOOLEAN AS mapped,
    if(labels['built:release'] IS NULL, release, nullif(labels['built:release'], '')) AS release,
    if(labels['built:agent'] IS NULL, agent_name, nullif(labels['built:agent'], '')) AS agent_name,
    if(labels['built:task'] IS NULL, task_id, nullif(labels['built:task'], '')) AS task_id
  FROM unlabeled_runs
),

read_runs AS (
  SELECT *
  FROM runs
  WHERE mapped OR release IS NULL
),

-- A file alone has the model as a source.
model_rungs AS (
  SELECT is_model
  FROM dimension_rungs
  WHERE is_model
),

model_tokens AS (
  SELECT
    trajectory_id,
    usage.model,
    sum(
      coalesce(usage.fresh_input_tokens, 0)
      + coalesce(usage.cache_read_tokens, 0)
      + coalesce(usage.cache_write_tokens, 0)
      + coalesce(usage.visible_output_tokens, 0)
      + coalesce(usage.reasoning_tokens, 0)
    ) AS tokens
  FROM (
    SELECT
      read_runs.trajectory_id,
      unnest(read_runs.model_usage) AS usage
    FROM read_runs
    SEMI JOIN model_rungs ON read_runs.mapped = model_rungs.is_model
  ) AS used
  WHERE usage.model <> ''
  GROUP BY trajectory_id, usage.model
),

main_models AS (
  SELECT
    trajectory_id,
    arg_min(model, (-tokens, model)) AS model
  FROM model_tokens
  GROUP BY trajectory_id
),

candidates AS (
  SELECT
    read_runs.trajectory_id,
    dimension_rungs.dimension,
    dimension_rungs.position,
    dimension_rungs.pattern,
    CASE
      WHEN dimension_rungs.is_model THEN main_models.model
      ELSE read_runs.labels[dimension_rungs.label]
    END AS found,
    read_runs.labels[dimension_rungs.mixed_label] IS NOT NULL AS is_mixed
  FROM read_runs
  LEFT JOIN main_models USING (trajectory_id)
  CROSS JOIN dimension_rungs
),

extracted AS (
  SELECT
    trajectory_id,
    dimension,
    position,
    is_mixed,
    "left"(if(pattern IS NULL, found, regexp_extract(found, pattern, 1)), 200) AS found
  FROM candidates
  WHERE found IS NOT NULL
),

own_values AS (
  SELECT
    trajectory_id,
    dimension,
    arg_min(found, position) AS found,
    arg_min(is_mixed, position) AS is_mixed
  FROM extracted
  WHERE found <> ''
  GROUP BY trajectory_id, dimension
),

callers AS (
  SELECT
    trajectory_id,
    parent_trajectory_id AS outermost_id
  FROM read_runs
  WHERE parent_trajectory_id IS NOT NULL
  UNION
  SELECT
    callers.trajectory_id,
    read_runs.parent_trajectory_id AS outermost_id
  FROM callers
  INNER JOIN read_runs ON callers.outermost_id = read_runs.trajectory_id
  WHERE read_runs.parent_trajectory_id IS NOT NULL
),

outermost AS (
  SELECT
    callers.trajectory_id,
    callers.outermost_id
  FROM callers
  INNER JOIN read_runs ON callers.outermost_id = read_runs.trajectory_id
  WHERE read_runs.parent_trajectory_id IS NULL
),

all_values AS (
  SELECT
    trajectory_id,
    dimension,
    found,
    is_mixed
  FROM own_values
  UNION ALL
  SELECT
    outermost.trajectory_id,
    own_values.dimension,
    own_values.found,
    FALSE AS is_mixed
  FROM outermost
  INNER JOIN own_values ON outermost.outermost_id = own_values.trajectory_id
  ANTI JOIN own_values AS already
    ON
      outermost.trajectory_id = already.trajectory_id
      AND own_values.dimension = already.dimension
  WHERE own_values.dimension NOT IN ('agent', 'task')
),

named AS (
  SELECT
    trajectory_id,
    any_value(found) FILTER (WHERE dimension = 'release') AS release,
    any_value(found) FILTER (WHERE dimension = 'agent') AS agent_name,
    any_value(found) FILTER (WHERE dimension = 'task') AS task_id,
    bool_or(dimension = 'release' AND is_mixed) AS is_mixed,
    map_from_entries(
      list((dimension, found) ORDER BY dimension)
      FILTER (WHERE dimension NOT IN ('release', 'agent', 'task'))
    ) AS dimensions
  FROM all_values
  GROUP BY trajectory_id
),

renamed AS (
  SELECT
    runs.trajectory_id,
    coalesce(runs.labels, map([]::VARCHAR[], []::VARCHAR[])) AS labels,
    runs.labels IS NULL AS without_labels,
    runs.flags,
    runs.release AS built_release,
    runs.agent_name AS built_agent,
    runs.task_id AS built_task,
    coalesce(named.release, runs.release) AS release,
    coalesce(named.agent_name, runs.agent_name) AS agent_name,
    coalesce(named.task_id, runs.task_id) AS task_id,
    runs.mapped AND coalesce(named.is_mixed, FALSE) AS is_mixed,
    CASE
      WHEN runs.mapped
        THEN coalesce(named.dimensions, map([]::VARCHAR[], []::VARCHAR[]))
    END AS dimensions
  FROM runs
  LEFT JOIN named USING (trajectory_id)
),

-- What a run had before the mapping changed it; '' where that was NULL.
noted AS (
  SELECT
    *,
    map_concat(
      if(
        built_agent IS DISTINCT FROM agent_name,
        map(['built:agent'], [coalesce(built_agent, '')]),
        NULL
      ),
      if(
        built_release IS DISTINCT FROM release,
        map(['built:release'], [coalesce(built_release, '')]),
        NULL
      ),
      if(
        built_task IS DISTINCT FROM task_id,
        map(['built:task'], [coalesce(built_task, '')]),
        NULL
      )
    ) AS built
  FROM renamed
)

SELECT
  trajectory_id,
  release,
  agent_name,
  task_id,
  CASE
    WHEN without_labels AND coalesce(cardinality(built), 0) = 0 THEN NULL
    ELSE map_from_entries(
      list_sort(
        coalesce(map_entries(built), [])
        || list_filter(map_entries(labels), LAMBDA each: NOT starts_with(each.key, 'built:'))
      )
    )
  END AS labels,
  dimensions,
  CASE
    WHEN is_mixed
      THEN list_sort(list_distinct(coalesce(flags, []) || ['mixed_release']))
    WHEN list_contains(flags, 'mixed_release')
      THEN list_filter(flags, LAMBDA each: each <> 'mixed_release')
    ELSE flags
  END AS flags
FROM noted;
