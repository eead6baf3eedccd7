"""Attacks on an index, bounded in time: threads, kills, damage, hostile filters, random histories, small adds."""
