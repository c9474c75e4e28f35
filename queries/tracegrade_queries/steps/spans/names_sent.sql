-- Names that spans were sent with: of their scopes, their attributes and their events.
--
-- Reads:
--   bucket_events
--   shapes
-- Columns:
--   name  VARCHAR  One row each; '' for a scope without a name.
-- Order:
--   none
SELECT unnest(list_append(names, scope_name)) AS name
FROM shapes
UNION
SELECT name
FROM bucket_events;
