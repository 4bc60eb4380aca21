"""The structured route.

OP2 with linear side constraints, by its dual, which falls apart into owners.
"""
