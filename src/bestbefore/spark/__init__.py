"""The data plane: sources, the durable buffer, windows and SPARQL algebra on DataFrames."""
