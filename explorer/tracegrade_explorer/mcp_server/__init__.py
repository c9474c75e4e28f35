"""Tools, resources and prompts of the Model Context Protocol, over the pages' own answers."""
