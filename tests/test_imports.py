"""No modules of a package import each other in a circle; import-linter holds the layers."""

from graphlib import TopologicalSorter

import grimp
import pytest

from .test_house import PACKAGES


@pytest.mark.parametrize("package", [folder.rpartition("/")[2] for folder in PACKAGES])
def test_no_modules_import_each_other_in_a_circle(package: str) -> None:
    """Not even inside functions; what only a type checker imports cannot fail at run time."""
    graph = grimp.build_graph(package, exclude_type_checking_imports=True, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}

    assert package in imports
    TopologicalSorter(imports).prepare()  # a CycleError names the modules of a circle
