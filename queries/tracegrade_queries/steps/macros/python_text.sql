-- The text of a Python literal that `repr` wrote; other escapes stay.
CREATE OR REPLACE TEMP MACRO python_text(LITERAL) AS
replace(
  replace(
    replace(
      replace(
        replace(replace(literal[2:-2], '\\', chr(0)), '\n', chr(10)), '\t', chr(9)
      ), '\''', chr(39)
    ), '\"', '"'
  ), chr(0), '\'
);
