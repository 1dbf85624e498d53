"""Adds items to a queue of another library, each on disk when the call returns:
queue-peers.py persist-queue|huey DIRECTORY COUNT THREADS; prints items per second."""
import sys
import threading
import time

name, directory, count, threads = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
body = "x" * 200
if name == "persist-queue":
    import persistqueue

    queue = persistqueue.FIFOSQLiteQueue(directory, auto_commit=True, multithreading=True, timeout=60)

    def add():
        queue.put(body)

else:
    from huey.storage import SqliteStorage

    storage = SqliteStorage(filename=directory + "/huey.db", fsync=True, timeout=60)

    def add():
        storage.enqueue(body.encode())


def work(number):
    for _ in range(number, count, threads):
        add()


start = time.monotonic()
workers = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
print(count / (time.monotonic() - start))
