"""The explorer from a checkout: `python app.py` is `dplearn app`."""

import sys

from streamlit import error, runtime

from dplearn.teaching.explorer import serve

if runtime.exists():
    error("Start the explorer with `python app.py`: a server of its own sends nothing anywhere.")
else:
    serve(sys.argv[1:])
