"""Sphinx: MyST pages, the public names from their docstrings, nothing fetched from elsewhere."""

from importlib.metadata import version as installed_version

project = "supple"
author = "The supple developers"
release = version = installed_version("supple")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.mathjax"]
myst_enable_extensions = ["dollarmath", "amsmath", "deflist"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]

autodoc_default_options = {"members": True, "show-inheritance": True}
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True

# The project's docstrings write code in single backquotes; read them as literals, not as references to look up.
default_role = "code"

html_theme = "furo"
html_title = f"supple {release}"
html_show_sphinx = False
