"""`truerail probe`: what is sent by which host, and the script that sends it."""
