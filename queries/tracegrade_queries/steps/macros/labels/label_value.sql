-- The text of a label: of a longer value the beginning, in at most 256 bytes.
CREATE OR REPLACE TEMP MACRO label_value(ATTRIBUTE_TEXT) AS
if(
  strlen("left"(attribute_text, 256)) <= 256,
  "left"(attribute_text, 256),
  "left"(attribute_text, 64)
);
