"""Sync: devices append immutable batches of lines to a store that others run, and merge what they read there.

A line is a row's state with its stamps (``store/export_rows.py``), so a batch may come late, twice, or in any order
between devices. ``reconcile`` merges lines; nothing here depends on which store it is.
"""
