-- The attributes of a span but for those of later items of lists (`a.1.b`), by the places to keep;
-- and one of them, NULL where it was not sent.
--
-- Of a long history the first message is left. A look at a map costs what the map holds, a join
-- copies it, and to make one costs more than both: so these are two lists.
CREATE OR REPLACE TEMP MACRO without_later_items(ATTRIBUTES, KEPT_PLACES) AS
{
  'names': list_select(map_keys(attributes), kept_places),
  'texts': list_select(map_values(attributes), kept_places)
};

CREATE OR REPLACE TEMP MACRO attribute(KEPT, NAME) AS
kept.texts[list_position(kept.names, name)];
