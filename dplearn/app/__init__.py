"""The explorer: Streamlit lives here and nowhere else."""
