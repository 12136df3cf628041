"""What Streamlit runs for `dplearn app`; `streamlit run app.py` does the same in a checkout."""

from dplearn.app.navigation import main

if __name__ == "__main__":
    main()
