"""Bridges to other programs: functions of columns for data frames and SQL, features for linear models."""
