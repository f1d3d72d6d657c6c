"""Views of an evaluation for lists, the map and a device's page."""
