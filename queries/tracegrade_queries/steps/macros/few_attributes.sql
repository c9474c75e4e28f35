-- The attributes of a span at the places that its shape names, as a map.
--
-- Of a long history only the first message is among them; each look at a map costs what it holds,
-- and a join copies it.
CREATE OR REPLACE TEMP MACRO few_attributes(ATTRIBUTES, PLACES) AS
map(list_select(map_keys(attributes), places), list_select(map_values(attributes), places));
