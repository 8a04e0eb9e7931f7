"""Calibrated intervals: the unbiased estimate, and its noise priced by two fits of the questions.

``Calibrated`` (in `groups`) fits every group once; its methods answer for any metric and any k.
"""
