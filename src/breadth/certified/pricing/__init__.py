"""Pricing: does any row that is not held in memory improve the set or the bound?"""
