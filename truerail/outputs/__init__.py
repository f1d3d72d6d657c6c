"""Judgements told to people and machines. Nothing here decides anything: what is wrong is settled before."""
