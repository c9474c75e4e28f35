-- Whether two spans share at least half of the longer one's time (bounds in ns).
CREATE OR REPLACE TEMP MACRO share_half_their_time(START_A, END_A, START_B, END_B) AS
2 * (least(end_a, end_b) - greatest(start_a, start_b))
>= greatest(end_a - start_a, end_b - start_b);
