"""A notebook in a Jupyter kernel: outputs, displays and errors of its cells.

spans: 7
speed: slow
needs: ipykernel
"""

import nbclient
from nbformat.v4 import new_code_cell, new_notebook

CELLS = (
    "from tg import t\nt.init()",
    "@t.tool\ndef double(x):\n    return 2 * x\n\n@t.tool\nasync def later(x):\n    return x\n",
    "with t.agent_run('cells'):\n    print(double(2), await later(3))\ndouble(4)",
    "class Shown:\n    def _repr_html_(self):\n        print('shown')\n        return '<b>'\ndouble.__name__",
    "import inspect\nprint(inspect.getsource(double))",
    "1 / 0",
    "t.flush()",
)
notebook = new_notebook(cells=[new_code_cell(text) for text in CELLS])
client = nbclient.NotebookClient(notebook, timeout=100, kernel_name="python3", allow_errors=True)
client.execute()
for cell in notebook.cells:
    for output in cell.outputs:
        print(output.get("text", output.get("data", output.get("evalue"))))
