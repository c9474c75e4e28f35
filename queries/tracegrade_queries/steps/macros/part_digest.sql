-- A number for the content of a message part: equal for parts that differ only in blanks.
CREATE OR REPLACE TEMP MACRO part_digest(PART_TYPE, TOOL_NAME, CALL_ID, ARGUMENTS, TEXT) AS
hash(
  part_type,
  coalesce(tool_name, ''),
  coalesce(call_id, ''),
  coalesce(regexp_replace(arguments, '\s', '', 'g'), ''),
  coalesce(trim(text), '')
)::HUGEINT;
