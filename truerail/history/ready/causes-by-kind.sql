/*
title = "Causes by kind and week, and the mean time to repair"
no_data = "No cause appeared in this time, as far as devices were read: see unread-devices."

[parameters]
since = {default = "30d", example = "90d"}
until = {}

[columns]
week = ["time", "Monday of the week in which they appeared"]
kind = ["text", "kind of cause"]
causes = ["whole", "causes that appeared in that week", "causes"]
repaired = ["whole", "those that are resolved", "causes"]
open = ["whole", "those that are still open", "causes"]
mean_repair_seconds = ["number", "mean time from appearance to resolution, of those that are resolved", "s"]
median_repair_seconds = ["number", "the same, the median", "s"]
longest_seconds = ["number", "the longest time, open ones included", "s"]
moves = ["whole", "cables to move for all of them", "cables"]
most_affected_gpus = ["whole", "GPUs affected by the largest of them; null if not recorded", "GPUs"]
*/
SELECT date_trunc('week', began) AS week, kind, count(*) AS causes,
    count(*) FILTER (ended < $until::TIMESTAMPTZ) AS repaired,
    count(*) FILTER (ended IS NULL OR ended >= $until::TIMESTAMPTZ) AS open,
    avg(date_diff('second', began, ended)) FILTER (ended < $until::TIMESTAMPTZ) AS mean_repair_seconds,
    median(date_diff('second', began, ended)) FILTER (ended < $until::TIMESTAMPTZ) AS median_repair_seconds,
    max(date_diff('second', began, least(coalesce(ended, $until::TIMESTAMPTZ), $until::TIMESTAMPTZ)))
        AS longest_seconds,
    sum(moves) AS moves, max(affected_gpus) AS most_affected_gpus
FROM causes
WHERE began >= $since::TIMESTAMPTZ AND began < $until::TIMESTAMPTZ
GROUP BY 1, 2 ORDER BY 1, causes DESC, kind
