-- Whether a call's id is one that no other run has: long, and no number of a round or a place.
CREATE OR REPLACE TEMP MACRO is_random_id(CALL_ID) AS
length(call_id) >= 12 AND NOT regexp_matches(call_id, '[:_.-]\d{1,3}$');
