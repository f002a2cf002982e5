"""The site: `make docs` builds it, strictly and without a network."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import voful

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "extensions"))

project = "voful"
author = "The voful developers"
copyright = author
release = version = voful.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    # ours, in docs/extensions
    "api_pages",
    "markdown_pages",
    "mathml",
    "plain_docstrings",
]
exclude_patterns = ["extensions", "gallery", "**/sg_execution_times.rst", "sg_execution_times.rst"]

# --- Markdown and docstrings ------------------------------------------------------------------
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 4
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
smartquotes = False  # docstrings quote values
napoleon_google_docstring = False
napoleon_attr_annotations = False  # signatures have the types
napoleon_use_ivar = True
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 80
copybutton_prompt_text = r">>> |\$ "
copybutton_prompt_is_regexp = True

# --- pages ------------------------------------------------------------------------------------
html_theme = "pydata_sphinx_theme"
html_title = f"voful {release}"
html_math_renderer = "mathml"
html_static_path = ["static"]
html_css_files = ["voful.css"]
html_copy_source = False
html_sidebars: dict[str, list[str]] = {"index": []}
html_theme_options = {
    "logo": {"text": "voful"},
    "show_prev_next": False,
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
}

# --- tutorials: scripts whose figures are made here -------------------------------------------
sphinx_gallery_conf = {
    "examples_dirs": ["gallery"],
    "gallery_dirs": ["tutorials"],
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "plot_gallery": "True",
    "min_reported_time": 0,
    "write_computation_times": False,
    "reset_modules": ("matplotlib", "tutorial_times.clock"),
    "reset_modules_order": "both",
    "show_signature": False,
    "image_srcset": ["2x"],
}
warnings.filterwarnings("ignore", category=UserWarning, message="FigureCanvasAgg is non-interac")
