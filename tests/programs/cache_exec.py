"""A new code object for every turn, at the place of the one before: gen_17.py has fn_17 and no other."""
SOURCE = """def fn_%02d(n):
    s = 0
    for k in range(n):
        s += k
    return s
fn_%02d(900)
"""


def main():
    i = 0
    while True:
        i = (i + 1) % 100
        exec(compile(SOURCE % (i, i), "gen_%02d.py" % i, "exec"), {})


print("ready", flush=True)
main()
