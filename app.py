"""The explorer: `streamlit run app.py`. Pages are the files of dplearn/app/pages."""

import streamlit as st

from dplearn.app.navigation import menu

st.set_page_config(page_title="dplearn", layout="wide", initial_sidebar_state=360)
st.navigation(menu(), position="top").run()
