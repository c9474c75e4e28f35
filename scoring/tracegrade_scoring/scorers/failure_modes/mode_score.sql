-- Whether one attempt shows a failure mode: 1 if it does, else 0 where that can be known.
--
-- shown: never NULL. nothing, fault: as of score_of, and of no account where the mode is shown.
CREATE OR REPLACE TEMP MACRO mode_score(SHOWN, NOTHING, FAULT) AS
score_of(
  shown::INTEGER, 1, if(shown, NULL, nothing), if(shown, NULL, fault), NULL, 'static'
);
