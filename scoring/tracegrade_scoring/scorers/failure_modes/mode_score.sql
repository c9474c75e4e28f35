-- Whether one attempt shows a failure mode: 1 if it does, else 0 where that can be known.
--
-- occurred: never NULL. nothing, fault: as of score_of, and of no account where the mode occurred.
CREATE OR REPLACE TEMP MACRO mode_score(OCCURRED, NOTHING, FAULT) AS
score_of(
  occurred::INTEGER, 1, if(occurred, NULL, nothing), if(occurred, NULL, fault), NULL, 'static'
);
