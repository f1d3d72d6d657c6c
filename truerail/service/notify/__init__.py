"""Messages about faults, for sites without Alertmanager: what to send, the queue of each receiver, the sending."""
