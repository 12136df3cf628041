"""Text of Plotly's script, which every page with interactive charts needs once."""

from plotly.offline import get_plotlyjs as library

__all__ = ["library"]
