"""Two releases side by side, on the tasks that both ran: is the new one better, what broke?"""
