"""The explorer from a checkout: `streamlit run app.py`."""

from dplearn.app.navigation import main

main()
