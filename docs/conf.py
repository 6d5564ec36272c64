"""Sphinx: MyST pages, public names and methods from their docstrings, nothing fetched from elsewhere."""

from importlib.metadata import version as installed_version

import supple

project = "supple"
author = "The supple developers"
release = version = installed_version("supple")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.mathjax"]
myst_enable_extensions = ["dollarmath", "amsmath", "deflist"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]

autodoc_default_options = {"show-inheritance": True}
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True

# The project's docstrings write code in single backquotes; read them as literals, not as references to look up.
default_role = "code"

html_theme = "furo"
html_title = f"supple {release}"
html_show_sphinx = False


def once(app, what, name, obj, skip, options):
    """On the page of a room, leave out what stands on the page of `supple` itself."""
    if what == "module" and app.env.docname.startswith("reference/") and app.env.docname != "reference/supple":
        return skip or name in supple.__all__
    return skip


def formulas(app, what, name, obj, options, lines):
    """Indented lines of a docstring are formulas: shown as they are written."""
    text, deep = [], 0
    for before, line in zip(["", *lines], lines, strict=False):
        indent = len(line) - len(line.lstrip())
        if line.strip() and indent < deep:
            deep = 0
        if indent >= 4 and not deep and not before.strip():
            deep = indent
            text += [" " * (indent - 4) + ".. code-block:: text", ""]
        text.append(line)
    lines[:] = text


def setup(app):
    """Hook both into autodoc."""
    app.connect("autodoc-skip-member", once)
    app.connect("autodoc-process-docstring", formulas)
