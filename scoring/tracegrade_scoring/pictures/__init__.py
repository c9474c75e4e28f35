"""Pictures as SVG: plots, graphs and small drawings, coloured by the page's style sheet."""
