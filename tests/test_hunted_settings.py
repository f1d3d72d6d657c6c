"""Settings and modules of ports out of public manuals and test data, each shortened to what was once read wrongly.

The key names the source; names and addresses are changed.
"""

from tests.public_answers import Answers, reads
from truerail.model import LinkSpeed, Optic, PortQos

SETTINGS: Answers = {
    "a guide to EOS and RoCE, `show priority-flow-control` of an old release: Yes and No": (
        "port_qos",
        (
            "Leaf-1# show priority-flow-control\n"
            "Port       Enabled  Priorities  Active  Note\n"
            "---------  -------  ----------  ------  -------------\n"
            "Ethernet1  Yes      3           Yes     DCBX disabled\n"
            "Ethernet2  No                   No\n"
        ),
        [PortQos("Ethernet1", pfc_priorities=(3,)), PortQos("Ethernet2", pfc_priorities=())],
    ),
    "CloudEngine's command reference, `display interface ethernet brief`: the bandwidth of ports": (
        "link_speed",
        (
            "<HUAWEI> display interface ethernet brief main\n"
            "PHY: Physical\n"
            "*down: administratively down\n"
            "Interface            PHY   Auto-Neg Duplex    BW  InUti OutUti Trunk Description\n"
            "100GE1/0/1           *down enable   full    100G     0%     0%    --\n"
            "400GE1/0/2           up    enable   full    400G     0%     0%    -- rail 2\n"
            "Eth-Trunk1           up    enable   full    800G     0%     0%    --\n"
        ),
        [LinkSpeed("400GE1/0/2", 400)],
    ),
    "DriveNets' documentation, `show interfaces transceiver`: ethtool's labels, powers in dBm alone": (
        "optics",
        (
            "dnRouter# show interfaces transceiver ge400-0/0/1\n\n"
            "\tIdentifier                                : QSFP_DD\n"
            "\tVendor PN                                 : C-DQ8FNM010\n"
            "\tModule temperature                        : 36.6 degrees C / 97.9 degrees F\n"
            "\tLaser tx bias current (Channel 0)         : 7.7 mA\n"
            "\tTransmit avg optical power (Channel 0)    : 2.4 dBm\n"
            "\tRcvr signal avg optical power (Channel 0) : -3.1 dBm\n"
            "\tLaser rx power low alarm threshold        : -12.5 dBm\n"
        ),
        [
            Optic(
                "ge400-0/0/1",
                None,
                -3.1,
                2.4,
                7.7,
                36.6,
                rx_power_low_dbm=-12.5,
                part="C-DQ8FNM010",
            )
        ],
    ),
    "SONiC's design of CMIS diagnostics, `show interface transceiver diagnostics params`": (
        "optics",
        (
            "sonic# show interface transceiver diagnostics params Ethernet 112\n\n"
            "Ethernet112\n"
            "---------------------------------------------------------------------\n"
            "Attribute                :  Value/State\n"
            "---------------------------------------------------------------------\n"
            "LOS1                     :  Deasserted\n"
            "RX1Power                 :  3.09991928781dBm\n"
            "RX2Power                 :  No Power\n"
            "Temperature              :  44.08203125C\n"
            "TX1Bias                  :  26mA\n"
            "TX2Bias                  :  0mA\n"
            "TX1Power                 :  3.15445518225dBm\n"
            "TX2Power                 :  No Power\n"
            "Voltage                  :  3.2576Volts\n"
        ),
        [
            Optic("Ethernet112", 1, 3.09991928781, 3.15445518225, 26, 44.08203125),
            Optic("Ethernet112", 2, -40, -40, 0, 44.08203125),
        ],
    ),
    "spiderpool, rdma-qos.sh: a title that names the interface, and files of ECN with an equals sign": (
        "nic_qos",
        (
            "./set-rdma-qos.sh q\n"
            "======== show configuration for device eth0 / mlx5_0========\n"
            "Priority trust state: dscp\n"
            "PFC configuration:\n"
            "        priority    0   1   2   3   4   5   6   7\n"
            "        enabled     0   0   0   0   0   1   0   0   \n"
            "ECN Enabled for priority 5: /sys/class/net/eth0/ecn/roce_np/enable/5 = 1\n"
            "ECN Enabled for priority 5: /sys/class/net/eth0/ecn/roce_rp/enable/5 = 1\n"
            "======== show configuration for device eth1 / mlx5_1========\n"
            "Priority trust state: pcp\n"
            "PFC configuration:\n"
            "        priority    0   1   2   3   4   5   6   7\n"
            "        enabled     0   0   0   1   0   0   0   0   \n"
        ),
        [
            PortQos("eth0", trust="dscp", pfc_priorities=(5,), ecn_priorities=(5,)),
            PortQos("eth1", trust="pcp", pfc_priorities=(3,)),
        ],
    ),
}

test_what_was_once_misread = reads(SETTINGS)
