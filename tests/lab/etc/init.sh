#!/bin/sh
# Process 1 of a device. Its names are its own, and what it mounts no one else sees.
set -e
hostname "$(cat {home}/lab/hostname)"
mount --bind {home} /run
mount --bind /run/lab/root /root
mount --bind /run/lab/hosts /etc/hosts
mount --bind /run/lab/shadow /etc/shadow
for daemon in /run/lab/daemons/*; do
    "$daemon" </dev/null >>/run/lab/log 2>&1 &
done
: >/run/lab/started
while :; do sleep 86400 & wait; done
