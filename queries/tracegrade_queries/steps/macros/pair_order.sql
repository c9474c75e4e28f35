-- Two whole numbers as one that rises with the first, then with the second; what is NULL is last.
--
-- What is first or last of a group is found several times as fast by one number as by a struct.
CREATE OR REPLACE TEMP MACRO pair_order(FIRST_NUMBER, SECOND_NUMBER) AS
coalesce(first_number, 9223372036854775807)::HUGEINT * 9223372036854775808
+ coalesce(second_number, 9223372036854775807);
