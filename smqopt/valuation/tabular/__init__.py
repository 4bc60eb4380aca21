"""Laws given by tables: histograms and atoms."""
