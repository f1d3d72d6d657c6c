/*
title = "LLDP names that a device ever had"
no_data = "No neighbour heard such a name since the store began. A device without a neighbour that hears it has no rows."

[parameters]
since = {default = "2000-01-01", example = "90d"}
until = {}
device = {}
lldp_name = {type = "name", meaning = "one LLDP name, whichever device had it", example = "leaf-3"}

[columns]
device = ["text", "device, named as in the plan"]
role = ["text", "role of the device"]
rack = ["text", "rack of the device; null where the plan has none"]
reported_name = ["text", "LLDP system name that its neighbours heard"]
chassis_id = ["text", "LLDP chassis id that its neighbours heard"]
as_planned = ["flag", "whether this is its name in the plan, letter by letter"]
began = ["time", "first round with this name and chassis"]
ended = ["time", "first round without; null while it lasts"]
*/
-- rows that differ in other values only are one
WITH named AS (
    SELECT device, role, rack, reported_name, chassis_id, began, ended,
        lag(reported_name) OVER w IS DISTINCT FROM reported_name
            OR lag(chassis_id) OVER w IS DISTINCT FROM chassis_id AS changes
    FROM devices
    WHERE ($device::VARCHAR IS NULL OR device = $device::VARCHAR) AND reported_name IS NOT NULL
    WINDOW w AS (PARTITION BY device ORDER BY began)
), numbered AS (
    SELECT *, sum(changes::INTEGER) OVER (PARTITION BY device ORDER BY began) AS number FROM named
), spans AS (
    SELECT device, any_value(role) AS role, arg_max(rack, began) AS rack, any_value(reported_name) AS reported_name,
        any_value(chassis_id) AS chassis_id, min(began) AS began,
        CASE WHEN count(*) = count(ended) THEN max(ended) END AS ended
    FROM numbered GROUP BY device, number
)
SELECT device, role, rack, reported_name, chassis_id, reported_name = device AS as_planned, began, ended
FROM spans
WHERE began < $until::TIMESTAMPTZ AND (ended IS NULL OR ended > $since::TIMESTAMPTZ)
    AND ($lldp_name::VARCHAR IS NULL OR lower(reported_name) = lower($lldp_name::VARCHAR)
        OR lower(split_part(reported_name, '.', 1)) = lower($lldp_name::VARCHAR))
ORDER BY device, began
