"""The error of an answer, predicted before anything is bought."""
