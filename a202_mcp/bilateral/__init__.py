"""The seven tools of the bilateral surface and their MCP server."""
