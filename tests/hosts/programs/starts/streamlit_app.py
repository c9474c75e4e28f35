"""Streamlit's AppTest: the script runs again at each click, with cached functions.

spans: 0 or more
speed: slow
"""

import logging

logging.getLogger("streamlit.runtime.scriptrunner_utils.script_run_context").disabled = True

from streamlit.testing.v1 import AppTest


def app():
    import streamlit as st
    from tg import t

    t.init()

    @t.tool
    def double(x):
        return 2 * x

    @st.cache_data
    @t.tool
    def cached(x):
        return {"n": x}

    with t.agent_run("app"):
        number = st.number_input("n", value=1)
        st.write(double(number), cached(number))
        if st.button("again"):
            st.rerun()


test = AppTest.from_function(app, default_timeout=60).run()
print([each.value for each in test.markdown], [each.value for each in test.json])
test.number_input[0].set_value(3).run()
print([each.value for each in test.markdown], [each.value for each in test.json])
test.button[0].click().run()
print([each.value for each in test.markdown], [each.value for each in test.exception])
