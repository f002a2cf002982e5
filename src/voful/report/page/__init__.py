"""The report of a study as one HTML file that needs nothing else."""

from voful.report.page.write import write_page

__all__ = ["write_page"]
