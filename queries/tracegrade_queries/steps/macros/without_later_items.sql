-- The attributes of a span without those of later items of lists (`a.1.b`), by the places to keep;
-- and the value of one of them, NULL if it was not sent.
--
-- Of a long history only the first message remains. Looking into a map takes as long as the map is
-- large, a join copies it, and building one costs more than both: so these are two lists.
CREATE OR REPLACE TEMP MACRO without_later_items(ATTRIBUTES, FIELD_POSITIONS) AS
{
  'names': list_select(map_keys(attributes), field_positions),
  'texts': list_select(map_values(attributes), field_positions)
};

CREATE OR REPLACE TEMP MACRO attribute(FIELDS, NAME) AS
fields.texts[list_position(fields.names, name)];
