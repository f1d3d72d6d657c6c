"""A fleet of simulated devices on the loopback, and the whole service that polls it: sessions, readers, judge, page."""
