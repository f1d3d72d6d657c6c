#!/bin/sh
# A prolog or health check of Slurm: asks truerail whether this host is fit for a job, and prints the answer.
#
#   Prolog=/etc/slurm/truerail-prolog.sh                                  in slurm.conf; or
#   HealthCheckProgram=... HealthCheckInterval=60 HealthCheckNodeState=IDLE   no job is there yet
#
# It ends with 0 whatever the answer is, since a prolog that ends with 1 drains the node and holds the job. With
# TRUERAIL_STRICT=1 it ends with 1 where the host is known not to be fit; never where truerail is away, slow, or does
# not know.
#
# TRUERAIL_GATE_DIR    the folder of `gate: {directory: ...}`, if this machine has it: then no request is made
# TRUERAIL_URL         the service; http://127.0.0.1:8080 without it
# TRUERAIL_TOKEN_FILE  a file with a line for curl: header = "Authorization: Bearer TOKEN"
# TRUERAIL_SECONDS     the longest that it waits; 1 without it

node=${SLURMD_NODENAME:-$(hostname -s)}
if [ -n "${TRUERAIL_GATE_DIR:-}" ]; then
  # fit, unfit or unknown; when it was evaluated; until when it holds; why. No file, or an old one: not known.
  [ -r "$TRUERAIL_GATE_DIR/$node" ] || exit 0
  read -r word at until why <"$TRUERAIL_GATE_DIR/$node"
  [ "$word" = unfit ] && [ "$until" -gt "$(date +%s)" ] 2>/dev/null || exit 0
  printf 'print truerail: not fit: %s (%s), evaluated %s s ago\n' "$node" "$why" "$(($(date +%s) - at))"
  [ "${TRUERAIL_STRICT:-0}" = 1 ] && exit 1
  exit 0
fi
answer=$(curl -s --max-time "${TRUERAIL_SECONDS:-1}" ${TRUERAIL_TOKEN_FILE:+-K "$TRUERAIL_TOKEN_FILE"} \
  -w '\n%{http_code}' "${TRUERAIL_URL:-http://127.0.0.1:8080}/api/v1/gate?nodes=$node" 2>/dev/null) || exit 0
status=${answer##*
}
[ "$status" = 409 ] || exit 0
printf 'print truerail: %s\n' "${answer%
*}"
[ "${TRUERAIL_STRICT:-0}" = 1 ] && exit 1
exit 0
