-- Plans inside of texts, as JSON lists; NULL where there is none.
--
-- `plan_in` reads the arguments of a plan tool, `json_list_in` the list that a text holds.
CREATE OR REPLACE TEMP MACRO plan_in(arguments) AS
  coalesce(
    try_cast(arguments AS JSON) -> '$.todos',
    try_cast(arguments AS JSON) -> '$.plan',
    try_cast(arguments AS JSON) -> '$.steps',
    try_cast(arguments AS JSON)
  )::VARCHAR;

CREATE OR REPLACE TEMP MACRO json_list_in(text) AS
  CASE
    WHEN json_valid(regexp_extract(text, '(?s)\[.*\]')) THEN regexp_extract(text, '(?s)\[.*\]')
  END;
