"""Starts the supervisor, as the container's first process."""

import os
import signal
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# Ours are found beside us in the image, and in the repository in tests.
sys.path[0] = os.path.dirname(HERE)
sys.path.append(os.environ.pop("AIRLOCK_HELPERS", "/opt/airlock/python"))

# Without handlers the kernel keeps from a container's first process every signal
# that comes from inside.
signal.signal(signal.SIGINT, signal.SIG_DFL)

from supervisor.supervisor import main  # noqa: E402

main()
