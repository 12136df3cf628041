"""Entry point of `streamlit run app.py`, `python app.py`, `uvicorn app:app`, `dplearn app`."""

import sys

from streamlit import App

from dplearn.teaching.explorer import serve
from dplearn.teaching.explorer.server import MIDDLEWARE, NAVIGATION, lifespan, routes

app = App(NAVIGATION, routes=routes(), middleware=MIDDLEWARE, lifespan=lifespan)

if __name__ == "__main__":
    serve(sys.argv[1:])
