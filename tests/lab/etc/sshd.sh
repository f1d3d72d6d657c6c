#!/bin/sh
exec /usr/sbin/sshd -D -f /run/lab/sshd_config -E /run/lab/sshd.log
