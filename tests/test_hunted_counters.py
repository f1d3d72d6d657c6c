"""Counters out of public manuals, tickets and test data, each shortened to what was once read wrongly.

The key names the source; names and addresses are changed.
"""

from tests.public_answers import Counts, Refused, counts, refuses

COUNTED: Counts = {
    "network-ai-mvp, EOS `show interfaces counters errors`: short labels, and the next command's frame": (
        "port_errors",
        (
            "===== show interfaces counters errors =====\n"
            "Port               FCS    Align   Symbol       Rx    Runts   Giants       Tx\n"
            "Et6            7846661        0  7831865  9687745  1841084        0        5\n"
            "Et15                 0        0        0        0        0        0        0\n"
            "===== show mac address-table =====\n"
            "Vlan    Mac Address       Type        Ports\n"
            "22      0200.0000.0001    DYNAMIC     Et6\n"
        ),
        {
            "Et6": {
                "crc_errors": 7846661,
                "alignment_errors": 0,
                "symbol_errors": 7831865,
                "rx_errors": 9687745,
                "runts": 1841084,
                "giants": 0,
                "tx_errors": 5,
            },
            "Et15": {
                "crc_errors": 0,
                "alignment_errors": 0,
                "symbol_errors": 0,
                "rx_errors": 0,
                "runts": 0,
                "giants": 0,
                "tx_errors": 0,
            },
        },
    ),
    "Arista's manual, `show interfaces counters discards`: rulers in runs, and a row of totals": (
        "port_errors",
        (
            "Port            InDiscards      OutDiscards\n"
            "---------- ----------------- -----------------\n"
            "Et1                      0               12\n"
            "Et49/1                   3                0\n"
            "---------        ---------        ---------\n"
            "Totals                   3               12\n"
        ),
        {"Et1": {"rx_discards": 0, "tx_discards": 12}, "Et49/1": {"rx_discards": 3, "tx_discards": 0}},
    ),
    "Cisco's NX-OS QoS guide, `show interface priority-flow-control`: a table for each line card": (
        "pfc_counters",
        (
            "slot  1\n=======\n\n"
            "============================================================\n"
            "Port               Mode Oper(VL bmap)  RxPPP      TxPPP\n"
            "============================================================\n\n"
            "Ethernet1/1        Auto Off            0          0\n"
            "Ethernet1/2        Auto On  (8)        56         6\n\n"
            "slot  2\n=======\n\n"
            "============================================================\n"
            "Port               Mode Oper(VL bmap)  RxPPP      TxPPP\n"
            "============================================================\n\n"
            "Ethernet2/1        Auto On  (8)        1          2\n"
        ),
        {
            "Ethernet1/1": {"rx_pause_frames": 0, "tx_pause_frames": 0},
            "Ethernet1/2": {"rx_pause_frames": 56, "tx_pause_frames": 6},
            "Ethernet2/1": {"rx_pause_frames": 1, "tx_pause_frames": 2},
        },
    ),
    "Cumulus Linux' command reference, `nv show interface swp1 counters qos pfc-stats`": (
        "pfc_counters",
        (
            "cumulus@switch:~$ nv show interface swp1 counters qos pfc-stats\n"
            "switch-priority  rx-pause-frames  rx-pause-duration  tx-pause-frames  tx-pause-duration\n"
            "---------------  ---------------  -----------------  ---------------  -----------------\n"
            "3                4                36.0 KB            6                70               \n"
        ),
        {"swp1": {"rx_pause_frames/3": 4, "tx_pause_frames/3": 6, "tx_pause_us/3": 70}},
    ),
    "kernel documentation of ionic and cxgb4, `ethtool -S`: the priority in a pause's name": (
        "nic_counters",
        (
            "# ethtool -S benic1p1\n"
            "NIC statistics:\n"
            "     frames_rx_pripause: 5\n"
            "     rx_pripause_3_1us_count: 20480\n"
            "     rx_pause_1us_count: 0\n"
            "     rx_ppp3_frames: 2\n"
        ),
        {
            "benic1p1": {
                "frames_rx_pripause": 5,
                "rx_pripause_3_1us_count/3": 20480,
                "rx_pause_1us_count": 0,
                "rx_ppp3_frames/3": 2,
            }
        },
    ),
    "sonic-mgmt-framework, show_interface_counters.j2: rulers without gaps": (
        "port_counters",
        (
            "sonic# show interface counters\n"
            "-------------------------------------------------------------------------------------------------------\n"
            "Interface      State     RX_OK       RX_ERR      RX_DRP      RX_OVERSIZE TX_OK       TX_ERR      TX_DRP\n"
            "-------------------------------------------------------------------------------------------------------\n"
            "Eth1/1         U         1006        1           2           0           999         3           4     \n"
            "\n"
            "sonic# \n"
            "Eth1/2         U         1006\n"
        ),
        {
            "Eth1/1": {
                "rx_packets": 1006,
                "rx_errors": 1,
                "rx_discards": 2,
                "tx_packets": 999,
                "tx_errors": 3,
                "tx_discards": 4,
            }
        },
    ),
    "AMD's node-scraper, Dell's SONiC, `show qos ... priority-flow-control statistics`: labels below `Interface`": (
        "pfc_counters",
        (
            "Flow Control frames received\n"
            "  Interface    PFC0    PFC3\n"
            "-----------  ------  ------\n"
            "        CPU       0       0\n"
            "     Eth1/1       0       8\n\n"
            "Flow Control frames transmitted\n"
            "  Interface    PFC0    PFC3\n"
            "-----------  ------  ------\n"
            "        CPU       0       0\n"
            "     Eth1/1       0       9\n\n"
        ),
        {
            "Eth1/1": {
                "rx_pause_frames/0": 0,
                "rx_pause_frames/3": 8,
                "tx_pause_frames/0": 0,
                "tx_pause_frames/3": 9,
            }
        },
    ),
    "SONiC's design of PFC, `show qos priority-flow-control statistics`: the watchdog's table": (
        "pfc_watchdog",
        (
            "Priority-based Flow Control Watchdog Port:Queue Statistics\n"
            "                                Storms          Transmitted        Received      TX Last        RX Last\n"
            " Port       Queue  Status Detected Restored    OK      Drop      OK      Drop  OK     Drop   OK     Drop\n"
            "----------- ----- ------- -------- -------- ------- ------- -------- ------- ------ ------ ------ ------\n"
            " CPU            0     N/A        0        0       0       0        0       0      0      0      0      0\n"
            " Ethernet0      3 stormed        2        1       5       6        7       8      0      0      0      0\n"
            " Ethernet0     10 stormed        2        1       5       6        7       8      0      0      0      0\n"
        ),
        {"Ethernet0": {"watchdog_storms/3": 2, "watchdog_tx_drops/3": 6, "watchdog_rx_drops/3": 8}},
    ),
    "H3C's command reference, `display counters inbound|outbound interface`: the direction in the command": (
        "port_counters",
        (
            "<Sysname> display counters inbound interface\n"
            "Interface         Total (pkts)    Broadcast (pkts)    Multicast (pkts)  Err (pkts)\n"
            "GE1/0/1                  18761                9322                7424           2\n"
            "HGE1/0/2              Overflow                   0                   0          --\n\n"
            ' Overflow: More than 14 digits (7 digits for column "Err").\n'
            "       --: Not supported.\n"
            "<Sysname> dis count out int\n"
            "Interface         Total(pkts)    Broadcast(pkts)    Multicast(pkts)  Err(pkts)\n"
            "GE1/0/1                     7                0                   0           1\n"
            "<Sysname-1> \n"
        ),
        {"GE1/0/1": {"rx_packets": 18761, "rx_errors": 2, "tx_packets": 7, "tx_errors": 1}},
    ),
    "Amazon's guide to EFA: `more` of several files of sysfs": (
        "rdma_counters",
        (
            "$ more /sys/class/infiniband/rdmap0s31/ports/1/hw_counters/* | cat\n"
            "::::::::::::::\n"
            "/sys/class/infiniband/rdmap0s31/ports/1/hw_counters/lifespan\n"
            "::::::::::::::\n"
            "12\n"
            "::::::::::::::\n"
            "/sys/class/infiniband/rdmap0s31/ports/1/hw_counters/rdma_read_bytes\n"
            "::::::::::::::\n"
            "7\n"
            "::::::::::::::\n"
            "/sys/class/infiniband/rdmap0s31/ports/1/hw_counters/rx_drops\n"
            "::::::::::::::\n"
            "0\n"
        ),
        {"rdmap0s31/1": {"rdma_read_bytes": 7, "rx_drops": 0}},
    ),
}
REFUSED: Refused = {
    "sonic-utilities, watermarkstat: the highest fill levels of priority groups alone": (
        "queue_counters",
        (
            "Ingress headroom per PG:\n"
            "     Port    PG0    PG1    PG2    PG3    PG4    PG5    PG6    PG7\n"
            "---------  -----  -----  -----  -----  -----  -----  -----  -----\n"
            "Ethernet0    100    101    102    103    104    105    106    107\n"
        ),
        "the answer of `show priority-group watermark`: not an answer about queues",
    ),
    "sonic-utilities, `show interfaces counters rif`: router interfaces are no ports": (
        "port_counters",
        (
            "          IFACE    RX_OK     RX_BPS    RX_PPS    RX_ERR    TX_OK    TX_BPS    TX_PPS    TX_ERR\n"
            "---------------  -------  ---------  --------  --------  -------  --------  --------  --------\n"
            "     Ethernet20        4  0.00 B/s    0.00/s         3        2  0.00 B/s    0.00/s         1\n"
            "       Vlan1000        0  0.00 B/s    0.00/s         0        0  0.00 B/s    0.00/s         0\n"
        ),
        "not an answer about what ports counted",
    ),
    "sonic-utilities, `intfstat -j`": (
        "port_counters",
        '{"Ethernet20": {"RX_BPS": "0.00 B/s", "RX_ERR": "3", "RX_OK": "4", "TX_ERR": "1", "TX_OK": "2"}}\n',
        "no port's counters",
    ),
    "a grep for one QoS group of NX-OS: no line names the port": (
        "queue_counters",
        (
            'N9K# show queuing interface e1/51 | grep -A 12 "QOS GROUP 5"\n'
            "|                              QOS GROUP 5                    |\n"
            "+-------------------------------------------------------------+\n"
            "|                   Tx Pkts |       202328436|               0|\n"
        ),
        "whose port no line names",
    ),
    "a box of a QoS group that is cut": (
        "queue_counters",
        (
            "Egress Queuing for Ethernet1/51 [System]\n"
            "|                              QOS GROUP 5                    |\n"
            "|                   Tx Pkts |       2023\n"
        ),
        "cut",
    ),
    "a grep in NX-OS' details of PFC: the first frames have no port": (
        "pfc_counters",
        (
            "    Admin Mode: On\n    Oper Mode: On\n    VL bitmap: (20)\n"
            "    Rx  |0     |0     |0     |0     |0     |0     |0     |0\n"
            "    Tx  |0     |0     |0     |0     |0     |150   |0     |0\n"
            "Ethernet1/52\n"
        ),
        "whose port no line names",
    ),
    "a row of EOS' queues that is cut": (
        "queue_counters",
        (
            "Port         Traffic  DropPrec  DestType  OutEnqPkts  OutEnqOctets  OutDropPkts  OutDropOctets\n"
            "Et3/1/1          TC1      DP0-3      UC       67521\n"
        ),
        "cut",
    ),
    "Comware's counters without the command above them": (
        "port_counters",
        (
            "Interface         Total (pkts)    Broadcast (pkts)    Multicast (pkts)  Err (pkts)\n"
            "GE1/0/1                  18761                9322                7424           2\n"
        ),
        "direction no line names",
    ),
    "a row of Comware's counters that is cut": (
        "port_counters",
        (
            "<Sysname> display counters inbound interface\n"
            "Interface         Total (pkts)    Broadcast (pkts)    Multicast (pkts)  Err (pkts)\n"
            "GE1/0/1                  18761\n"
        ),
        "cut",
    ),
    "a row of VRP's Ethernet ports that is cut": (
        "link_speed",
        "Interface            PHY   Auto-Neg Duplex    BW  InUti OutUti Trunk Description\n400GE1/0/2           up\n",
        "cut",
    ),
    "a row of sonic-cli's watchdog that is cut": (
        "pfc_watchdog",
        (
            " Port       Queue  Status Detected Restored    OK      Drop      OK      Drop  OK     Drop   OK     Drop\n"
            " Ethernet0      3 stormed        2        1       5       6        7       8      0      0      0      1"
        ),
        "cut",
    ),
    "a row of sonic-cli's counters that is cut": (
        "port_counters",
        (
            "Interface      State     RX_OK       RX_ERR      RX_DRP      RX_OVERSIZE TX_OK       TX_ERR      TX_DRP\n"
            "Eth1/1         U         1006        1           2\n"
        ),
        "cut",
    ),
    "VRP's queues without the command above them": (
        "queue_counters",
        (
            " Queue   CIR/PIR              Passed     Pass Rate             Dropped     Drop Rate  Drop Time\n"
            "     0         0                   6             0                   0             0          -\n"
            "        10000000                1092             0                   0             0\n"
        ),
        "whose port no line names",
    ),
    "VRP's queues, cut inside a table": (
        "queue_counters",
        (
            "<sw> display qos queue statistics interface 100GE1/0/2\n"
            " Queue   CIR/PIR              Passed     Pass Rate             Dropped     Drop Rate  Drop Time\n"
            "     0         0                   6             0                   0             0          -\n"
            " --------\n"
        ),
        "cut",
    ),
    "VRP's queues, cut between the lines of one": (
        "queue_counters",
        (
            "<sw> display qos queue statistics interface 100GE1/0/2\n"
            " Queue   CIR/PIR              Passed     Pass Rate             Dropped     Drop Rate  Drop Time\n"
            "     0         0                   6             0                   0             0          -\n"
        ),
        "cut",
    ),
    "a row of NVUE's table that is cut": (
        "pfc_counters",
        (
            "cumulus@switch:~$ nv show interface swp1 counters qos pfc-stats\n"
            "switch-priority  rx-pause-frames  rx-pause-duration  tx-pause-frames  tx-pause-duration\n"
            "---------------  ---------------  -----------------  ---------------  -----------------\n"
            "3                4                36.0 KB\n"
        ),
        "cut",
    ),
}

test_what_ports_counted = counts(COUNTED)
test_what_is_no_such_answer = refuses(REFUSED)
