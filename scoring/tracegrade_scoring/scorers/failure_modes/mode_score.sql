-- Whether one attempt shows a failure mode: 1 if it does, else 0 where that can be known.
--
-- occurred: never NULL. nothing, fault: as in score_of; they have no effect where the mode
-- occurred.
CREATE OR REPLACE TEMP MACRO mode_score(OCCURRED, NOTHING, FAULT) AS
score_of(
  occurred::INTEGER, 1, if(occurred, NULL, nothing), if(occurred, NULL, fault), NULL, 'static'
);
