"""RDF terms, their one-string encoding, and the formats they come in."""
