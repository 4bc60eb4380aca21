"""The tables of a model file: what reads them and writes their JSON Schema."""
