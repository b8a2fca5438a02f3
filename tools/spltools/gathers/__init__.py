"""The modelling's output: its reader, and SEG-Y and SU from it."""
