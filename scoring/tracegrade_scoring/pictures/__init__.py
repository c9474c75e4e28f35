"""Pictures as SVG: plots, graphs and small drawings, colored by the page's style sheet."""
