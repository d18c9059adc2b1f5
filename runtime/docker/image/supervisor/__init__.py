"""The container's first process, which runs scripts for the host.

It speaks frames over standard input and output (`frames`), keeps interpreters
ready (`interpreters`, `fork_server`), runs one script at a time in one of them
(`execution`), and afterwards ends every other process (`processes`) and empties
what can be written to (`scratch`). Scripts run as the same user; `guard` says
what keeps them apart. Python's standard library is all it needs.
"""
