"""The seller's server by the Treatyway MCP contract, version 1, over the A202 core."""
