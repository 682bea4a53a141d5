"""For `embed --host`: Python beside C threads that hold a thread state and run no Python."""
import sys
import threading
import time


def sleeper():
    time.sleep(1000)


def main():
    threading.Thread(target=sleeper, name="sleeper", daemon=True).start()
    time.sleep(0.1)
    print("ready", flush=True)
    sleeper()


main()
