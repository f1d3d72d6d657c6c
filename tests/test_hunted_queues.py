"""Queue counters out of public manuals, tickets and test data, each shortened to what was once read wrongly.

The key names the source; names and addresses are changed.
"""

from tests.public_answers import Counts, counts

COUNTED: Counts = {
    "sonic-mgmt's plans of tests: the watermarks of priority groups have the table of their drops": (
        "queue_counters",
        (
            "# show priority-group watermark shared\n"
            "Ingress shared pool occupancy per PG:\n"
            "       Port    PG0    PG1    PG2      PG3    PG4    PG5    PG6    PG7\n"
            "-----------  -----  -----  -----  -------  -----  -----  -----  -----\n"
            "Ethernet120      0      0      0  2092800      0      0      0  18432\n"
            "# show queue watermark unicast\n"
            "Egress shared pool occupancy per unicast queue:\n"
            "       Port    UC0    UC1    UC2      UC3    UC4    UC5    UC6    UC7\n"
            "-----------  -----  -----  -----  -------  -----  -----  -----  -----\n"
            "  Ethernet4      0      0      0  2097408      0      0      0   7168\n"
            "# show queue counters\n"
            "For namespace :\n"
            "     Port    TxQ    Counter/pkts    Counter/bytes    Drop/pkts    Drop/bytes\n"
            "---------  -----  --------------  ---------------  -----------  ------------\n"
            "Ethernet4    UC3            8193           852072        91786       9545744\n"
            "      CPU    MC0               7                9            0             0\n"
        ),
        {
            "Ethernet4": {
                "queue_packets/3": 8193,
                "queue_bytes/3": 852072,
                "queue_drops/3": 91786,
                "queue_drop_bytes/3": 9545744,
            }
        },
    ),
    "SONiC's design of WRED counters: labels one blank apart": (
        "queue_counters",
        (
            " sonic-dut:~# show queue wredcounters Ethernet16\n"
            "       Port    TxQ    WredDrp/pkts    WredDrp/bytes  EcnMarked/pkts EcnMarked/bytes\n"
            " ----------  -----  --------------  ---------------  -------------- ---------------\n"
            " Ethernet16    UC3               1              120               7               9\n"
        ),
        {
            "Ethernet16": {
                "wred_drops/3": 1,
                "wred_drop_bytes/3": 120,
                "ecn_marked_packets/3": 7,
                "ecn_marked_bytes/3": 9,
            }
        },
    ),
    "ntc-templates, arista_eos_show_interfaces_counters_queue_detail: queues by drop precedence and destination": (
        "queue_counters",
        (
            "Egress Queue Counters\n"
            "Port         Traffic  DropPrec  DestType  OutEnqPkts  OutEnqOctets  OutDropPkts  OutDropOctets\n"
            "              Class\n"
            "Et3/1/1          TC1      DP0        UC       67521       7523778            0              0\n"
            "Et3/1/1          TC1    DP1-3        UC          10          1000            2            200\n"
            "Et3/1/1          TC7    DP0-3        MC         633         72078            0              0\n"
            "Et4/4/1          TC7    DP0-3        UC           0             0            1            110"
        ),
        {
            "Et3/1/1": {
                "queue_packets/1": 67531,
                "queue_bytes/1": 7524778,
                "queue_drops/1": 2,
                "queue_drop_bytes/1": 200,
                "mc_queue_packets/7": 633,
                "mc_queue_bytes/7": 72078,
                "mc_queue_drops/7": 0,
                "mc_queue_drop_bytes/7": 0,
            },
            "Et4/4/1": {"queue_packets/7": 0, "queue_bytes/7": 0, "queue_drops/7": 1},
        },
    ),
    "a report on RoCE and a Nexus 9300, `show queuing interface`: boxes of text": (
        "queue_counters",
        (
            "slot  1\n=======\n\n"
            "Egress Queuing for Ethernet1/51 [System]\n"
            "------------------------------------------------------------------------------\n"
            "QoS-Group# Bandwidth% PrioLevel                Shape                   QLimit\n"
            "                                   Min          Max        Units\n"
            "------------------------------------------------------------------------------\n"
            "      3             -         1           -            -     -            9(D)\n"
            "+-------------------------------------------------------------------+\n"
            "|                              QOS GROUP 5                          |\n"
            "+-------------------------------------------------------------------+\n"
            "|                           |  Unicast       |Multicast             |\n"
            "+-------------------------------------------------------------------+\n"
            "|                   Tx Pkts |       202328436|               4|\n"
            "|                   Tx Byts |    203884632744|               0|\n"
            "| WRED/AFD & Tail Drop Pkts |               3|               0|\n"
            "|              Q Depth Byts |            9984|               0|\n"
            "+-------------------------------------------------------------------+\n"
            "|                      CONTROL QOS GROUP                            |\n"
            "+-------------------------------------------------------------------+\n"
            "|                   Tx Pkts |             137|               0|\n"
            "\nIngress Queuing for Ethernet1/51\n"
            "-----------------------------------------------------\n"
            "QoS-Group#                 Pause\n"
            "PFC_COS QOS_Group   TxPause             TxCount   RxPause             RxCount\n"
            "      5         5  Inactive                 150  Inactive                   0\n"
        ),
        {"Ethernet1/51": {"queue_packets/5": 202328440, "queue_bytes/5": 203884632744, "queue_drops/5": 3}},
    ),
    "Junos of MX and SRX, `show interfaces extensive`: ingress queues above the egress queues": (
        "queue_counters",
        (
            "Physical interface: et-0/0/1, Enabled, Physical link is Up\n"
            "  Ingress queues: 8 supported, 4 in use\n"
            "  Queue counters:       Queued packets  Transmitted packets      Dropped packets\n"
            "    0                                0                    0                    0\n"
            "    3                               55                   55                    7\n"
            "  Egress queues: 8 supported, 4 in use\n"
            "  Queue counters:       Queued packets  Transmitted packets      Dropped packets\n"
            "    0                               14                   14                    0\n"
            "  Queue number:         Mapped forwarding classes\n"
            "    0                   best-effort\n"
        ),
        {"et-0/0/1": {"queue_packets/0": 14, "queue_drops/0": 0}},
    ),
    "Junos' XML of the same: the summary names the ingress queues": (
        "queue_counters",
        (
            '{"interface-information": [{"physical-interface": [{"name": [{"data": "et-0/0/1"}], "queue-counters": ['
            '{"interface-cos-short-summary": [{"intf-cos-queue-type": [{"data": "Ingress queues"}]}],'
            ' "queue": [{"queue-number": [{"data": "3"}], "queue-counters-trans-packets": [{"data": "55"}]}]},'
            '{"interface-cos-short-summary": [{"intf-cos-queue-type": [{"data": "Egress queues"}]}],'
            ' "queue": [{"queue-number": [{"data": "0"}], "queue-counters-trans-packets": [{"data": "14"}]}]}]}]}]}\n'
        ),
        {"et-0/0/1": {"queue_packets/0": 14}},
    ),
    "Juniper's posts on MX301 and QFX5000, `show interfaces queue`": (
        "queue_counters",
        (
            "user@leaf> show interfaces queue\n"
            "Physical interface: et-0/0/0, Enabled, Physical link is Up\n"
            "  Interface index: 158, SNMP ifIndex: 534\n"
            "Ingress queues: 8 supported, 6 in use\n"
            "Queue: 3, Forwarding classes: no-loss\n"
            "  Transmitted:\n"
            "    Packets              :                    77                     0 pps\n"
            "Egress queues: 8 supported, 6 in use\n"
            "Queue: 0, Forwarding classes: BEST-EFFORT\n"
            "  Queued:\n"
            "    Packets              :          134671505681             132068620 pps\n"
            "  Transmitted:\n"
            "    Packets              :          109413590220              81493768 pps\n"
            "    Bytes                :        60570127525651          386967339008 bps\n"
            "    Tail-dropped packets :                     2                     0 pps\n"
            "    RL-dropped packets   :                     1                     0 pps\n"
            "    RED-dropped packets  :           25257915461              50574852 pps\n"
            "     Low                 :           25257915461              50574852 pps\n"
            "Queue: 3, Forwarding classes: no-loss\n"
            "  Transmitted:\n"
            "    Packets              :           91527655951                     0 pps\n"
            "    Tail-dropped packets : Not Available\n"
            "    RL-dropped packets   :                     0                     0 pps\n"
            "    Total-dropped packets:           61790002516                     0 pps\n"
            "Queue: 4, Forwarding classes: other\n"
            "  Transmitted:\n"
            "    Packets              :                     5                     0 pps\n"
            "    Tail-dropped packets : Not Available\n"
            "    RL-dropped packets   :                     0                     0 pps\n"
            "  Logical interface et-0/0/0.0 (Index 93) (SNMP ifIndex 525)\n"
            "Queue: 5, Forwarding classes: inside\n"
            "  Transmitted:\n"
            "    Packets              :                     6                     0 pps\n"
        ),
        {
            "et-0/0/0": {
                "queue_packets/0": 109413590220,
                "queue_bytes/0": 60570127525651,
                "queue_drops/0": 25257915464,
                "queue_packets/3": 91527655951,
                "queue_drops/3": 61790002516,
                "queue_packets/4": 5,
            }
        },
    ),
    "Cumulus Linux' command reference, `nv show interface swp1 counters qos`: queues": (
        "queue_counters",
        (
            "cumulus@switch:~$ nv show interface swp1 counters qos\n"
            "Egress Queue Statistics\n"
            "==========================\n"
            "    traffic-class  tx-frames  tx-bytes  tx-uc-buffer-discards  wred-discards\n"
            "    -------------  ---------  --------  ---------------------  -------------\n"
            "    0              7          1.5 KB    0 Bytes                0            \n"
            "    3              9          64 Bytes  75.19 KB               2            \n\n"
            "Qos Port Statistics\n"
            "======================\n"
            "    Counter             Receive  Transmit\n"
            "    ------------------  -------  --------\n"
            "    pause-frames        0        0\n"
            "...\n"
        ),
        {
            "swp1": {
                "queue_packets/0": 7,
                "queue_drops/0": 0,
                "wred_discards/0": 0,
                "queue_packets/3": 9,
                "queue_bytes/3": 64,
                "wred_discards/3": 2,
            }
        },
    ),
    "CloudEngine's configuration guide, `display qos queue statistics`: bytes below packets, the port in the command": (
        "queue_counters",
        (
            "[~DeviceB] display qos queue statistics interface 100ge 1/0/2\n"
            " Queue   CIR/PIR              Passed     Pass Rate             Dropped     Drop Rate  Drop Time\n"
            "        (% or kbps)   (Packets/Bytes)    (pps/bps)      (Packets/Bytes)    (pps/bps)\n"
            " ----------------------------------------------------------------------------------------------\n"
            "     0         0                   6             0                   0             0          -\n"
            "        10000000                1092             0                   0             0\n"
            " ----------------------------------------------------------------------------------------------\n"
            "     3      2000               54584             1                   7             2  2026-01-01 10:00\n"
            "           3000                9999             3                  11             4\n"
            "     8      2000                   1             1                   1             2          -\n"
            "           3000                   1             3                   1             4\n"
        ),
        {
            "100GE1/0/2": {
                "queue_packets/0": 6,
                "queue_drops/0": 0,
                "queue_bytes/0": 1092,
                "queue_drop_bytes/0": 0,
                "queue_packets/3": 54584,
                "queue_drops/3": 7,
                "queue_bytes/3": 9999,
                "queue_drop_bytes/3": 11,
            }
        },
    ),
    "go-swpx, `display qos queue statistics` of an S series: a line for each value": (
        "queue_counters",
        (
            "<sw>display qos queue statistics interface GigabitEthernet 0/0/1\n"
            "------------------------------------------------------------\n"
            "  Queue ID          : 0\n"
            "  CIR(kbps)         : 100,000\n"
            "  Passed Packets    : 48,140\n"
            "  Passed Rate(pps)  : 0\n"
            "  Passed Bytes      : 9,940,984\n"
            "  Dropped Packets   : 1\n"
            "  Dropped Bytes     : 64\n"
            "------------------------------------------------------------\n"
        ),
        {
            "GigabitEthernet0/0/1": {
                "queue_packets/0": 48140,
                "queue_bytes/0": 9940984,
                "queue_drops/0": 1,
                "queue_drop_bytes/0": 64,
            }
        },
    ),
}

test_what_ports_counted = counts(COUNTED)
