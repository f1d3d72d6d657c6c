#!/bin/sh
rm -f /run/agentx.sock
export SNMP_PERSISTENT_DIR=/run/snmp
exec snmpd -f -C -c /run/lab/snmpd.conf -Lf /run/lab/snmpd.log -I -smux
