-- Phrases of frameworks, whole: a user or a tool that says a part of one is not the framework.
--
-- `task_heading` stands above what smolagents' agents are asked, and `retry_notice` below what it
-- tells a model of a call that failed.
CREATE OR REPLACE TEMP MACRO task_heading() AS E'New task:\n';

CREATE OR REPLACE TEMP MACRO retry_notice() AS
'Now let''s retry: take care not to repeat previous errors! '
'If you have retried several times, try a completely different approach.';
