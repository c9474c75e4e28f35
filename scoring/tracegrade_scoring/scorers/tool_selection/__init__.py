"""Tool selection: did each decision point pick the right tool?"""
