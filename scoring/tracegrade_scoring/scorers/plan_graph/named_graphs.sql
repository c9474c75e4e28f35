-- The sub-goals of each plan graph, with their dependencies.
--
-- Reads:
--   task_graphs
--   task_sub_goals
-- As:
--   view
-- Columns:
--   task_id      VARCHAR
--   graph        VARCHAR      NULL for the graph of the sub-goals themselves.
--   graph_index  INTEGER      Position of the graph in its task.
--   position     INTEGER      Position of the sub-goal in its task.
--   sub_goal     VARCHAR
--   deps         VARCHAR[]    Sub-goals that all come before it.
--   any_of       VARCHAR[][]  Paths; one of them comes before it.
--   counted      BOOLEAN      Something serves it, or it has a criterion.
-- Order:
--   task_id, graph_index, position
SELECT
  task_graphs.task_id,
  task_graphs.graph,
  task_graphs.graph_index,
  task_sub_goals.position,
  task_graphs.sub_goal,
  task_graphs.deps,
  task_graphs.any_of,
  coalesce(task_sub_goals.serves <> [] OR task_sub_goals.success IS NOT NULL, FALSE) AS counted
FROM task_graphs
LEFT JOIN task_sub_goals USING (task_id, sub_goal)
ORDER BY task_graphs.task_id, task_graphs.graph_index, task_sub_goals.position;
