"""One thread that works and six that wait, each in another way."""
import queue
import select
import socket
import threading
import time


def t_sleep():
    while True:
        time.sleep(60)


def t_lock(lock=threading.Lock()):
    lock.acquire()
    lock.acquire()


def t_queue(q=queue.Queue()):
    q.get()


def t_epoll():
    poll = select.epoll()
    a, b = socket.socketpair()
    poll.register(a, select.EPOLLIN)
    poll.poll()


def t_recv(pair=socket.socketpair()):
    pair[0].recv(1)


def t_busy():
    while True:
        sum(range(10000))


for work in (t_sleep, t_lock, t_queue, t_epoll, t_recv, t_busy):
    threading.Thread(target=work, name=work.__name__, daemon=True).start()
print("ready", flush=True)
time.sleep(10**6)
