-- The text that a literal of Python's stands for, as `repr` writes it; other escapes stay.
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
