"""What lists, the map and a device's page show of an evaluation."""
