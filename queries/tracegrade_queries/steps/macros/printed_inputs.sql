-- The user's request in an input that Python printed; texts of other forms stay unchanged.
--
-- `agno_input` reads a message of Agno's, or only its content blocks, which become lines.
-- `dspy_input` reads the first text input of a DSPy module.
CREATE OR REPLACE TEMP MACRO agno_input(PRINTED) AS
CASE
  WHEN
    regexp_matches(
      printed,
      '^(id=\x27[^\x27]*\x27 role=\x27user\x27 content=)?'
      '\[\{\x27type\x27: \x27(input_)?text\x27, \x27text\x27: [\x27"]'
    )
    THEN array_to_string(
      list_transform(
        regexp_extract_all(
          printed, '\x27text\x27: (\x27(?:[^\x27\\]|\\.)*\x27|"(?:[^"\\]|\\.)*")', 1
        ),
        LAMBDA literal:
        python_text(literal)
      ),
      chr(10)
    )
  WHEN regexp_matches(printed, '^id=\x27[^\x27]*\x27 role=\x27user\x27 content=[\x27"]')
    THEN regexp_extract(
      printed, '(?s) role=\x27user\x27 content=[\x27"](.*?)[\x27"] compressed_content=', 1
    )
  ELSE printed
END;

CREATE OR REPLACE TEMP MACRO dspy_input(PRINTED) AS
if(
  regexp_matches(printed, '^\{\x27\w+\x27: [\x27"]') AND ends_with(printed, '}'),
  coalesce(
    python_text(
      nullif(
        regexp_extract(
          printed,
          '^\{\x27\w+\x27: (\x27(?:[^\x27\\]|\\.)*\x27|"(?:[^"\\]|\\.)*")[,}]',
          1
        ),
        ''
      )
    ),
    printed
  ),
  printed
);
