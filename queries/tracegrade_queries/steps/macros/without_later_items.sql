-- The attributes of a span but for those of later items of lists (`a.1.b`), by the places to keep.
--
-- Of a long history the first message is left. A look at a map costs what the map holds, and a
-- join copies it.
CREATE OR REPLACE TEMP MACRO without_later_items(ATTRIBUTES, KEPT_PLACES) AS
map(
  list_select(map_keys(attributes), kept_places), list_select(map_values(attributes), kept_places)
);
