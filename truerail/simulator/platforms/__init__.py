"""What each platform says of itself over LLDP, written from what real devices send and from nothing that reads it."""
