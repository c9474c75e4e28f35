"""Code that the verifiers of all kinds share: their context, results and comparisons."""
