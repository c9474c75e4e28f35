"""Issues: runs that went wrong in the same way, in every release of an agent."""
