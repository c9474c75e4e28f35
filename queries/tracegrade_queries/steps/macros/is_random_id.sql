-- Whether no other run has a call's id: it is long, and not the number of a round or position.
CREATE OR REPLACE TEMP MACRO is_random_id(CALL_ID) AS
length(call_id) >= 12 AND NOT regexp_matches(call_id, '[:_.-]\d{1,3}$');
