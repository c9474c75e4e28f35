-- Attributes of a span without later items of lists (`a.1.b`); and the value of one of them.
--
-- `field_positions` are the positions to keep; the value is NULL if the attribute was not sent.
-- Only the first message of a long history remains. The time to look into a map grows with the
-- map, a join copies it, and building one costs more than both, so the result is two lists.
CREATE OR REPLACE TEMP MACRO without_later_items(ATTRIBUTES, FIELD_POSITIONS) AS
{
  'names': list_select(map_keys(attributes), field_positions),
  'texts': list_select(map_values(attributes), field_positions)
};

CREATE OR REPLACE TEMP MACRO attribute(FIELDS, NAME) AS
fields.texts[list_position(fields.names, name)];
