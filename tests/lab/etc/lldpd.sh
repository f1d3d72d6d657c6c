#!/bin/sh
# snmpd first: lldpd hands it LLDP-MIB through AgentX
tries=0
while [ -e /run/lab/daemons/snmpd ] && [ ! -S /run/agentx.sock ] && [ $tries -lt 200 ]; do
    sleep 0.05
    tries=$((tries + 1))
done
exec lldpd -d -O /run/lab/lldpd.conf {agentx}
