"""Captures what real programs write to a terminal, as files for the fidelity tests.

Run it in a namespace of its own, so that nothing of the machine is in the captures:

    unshare --pid --uts --mount --fork --mount-proc sh -c 'hostname demo; python3 capture.py'

A program that is not installed is left out; what was captured before stays.
"""

import fcntl, os, pty, select, shutil, signal, struct, subprocess, sys, termios, time

HERE = os.path.dirname(os.path.abspath(__file__))
DEMO = "/tmp/demo"
COLS, ROWS = 120, 32


def prepare():
    shutil.rmtree(DEMO, ignore_errors=True)
    os.makedirs(DEMO + "/src")
    words = "the quick brown fox jumps over a lazy dog while seven wizards mix jugs".split()
    with open(DEMO + "/notes.txt", "w") as out:
        for line in range(400):
            out.write(f"{line:4} " + " ".join(words[(line * 7 + k * k) % len(words)] for k in range(4 + line % 15)) + "\n")
    with open(DEMO + "/wide.txt", "w") as out:
        for line in range(60):
            out.write("漢字かな交じり文テスト中文测试한국어 " * (1 + line % 4) + "e\u0301 o\u0308 ✅ 🦀 🚀 ⚡ │ ░▒▓ ½\n")
    with open(DEMO + "/src/main.rs", "w") as out:
        for item in range(60):
            out.write(f'/// Number {item}.\nfn item_{item}(x: u64) -> Option<u64> {{\n    // a comment\n    let text = "value {item}";\n    if x > {item} {{ Some(x * {item}) }} else {{ None }}\n}}\n\n')
    git = lambda *a: subprocess.run(["git", "-c", "user.name=Demo", "-c", "user.email=demo@example.org", *a], cwd=DEMO, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    git("init", "-q", "-b", "main")
    for commit in range(12):
        with open(DEMO + "/notes.txt", "a") as out:
            out.write(f"commit {commit}\n")
        with open(DEMO + f"/src/part{commit}.rs", "w") as out:
            out.write(f"fn part_{commit}() {{}}\n" * (commit + 1))
        git("add", "-A")
        git("commit", "-q", "-m", f"Part {commit}: do something")
        if commit % 4 == 2:
            git("checkout", "-q", "-b", f"topic-{commit}")
            git("commit", "-q", "--allow-empty", "-m", f"On topic {commit}")
            git("checkout", "-q", "main")
            git("merge", "-q", "--no-ff", "-m", f"Merge topic {commit}", f"topic-{commit}")


def capture(name, argv, keys=(), env=None, seconds=2.0, limit=150_000):
    """Types each of `keys` when the program has been quiet for a moment."""
    if shutil.which(argv[0]) is None:
        print("not installed:", argv[0])
        return
    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(DEMO)
        os.execvpe(argv[0], argv, {"PATH": os.environ["PATH"], "TERM": "xterm-256color", "LANG": "C.UTF-8", "HOME": DEMO, "COLORTERM": "truecolor", "USER": "demo", "SHELL": "/bin/sh", "PS1": "demo$ ", "LESS": "-R", **(env or {})})
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLS, 0, 0))
    data, keys, start, last = b"", list(keys), time.time(), time.time()
    while time.time() - start < 25 and len(data) < limit:
        ready, _, _ = select.select([fd], [], [], 0.1)
        if ready:
            try:
                more = os.read(fd, 65536)
            except OSError:
                break
            if not more:
                break
            data += more
            last = time.time()
            for query, answer in ((b"\x1b[c", b"\x1b[?62;22c"), (b"\x1b[>c", b"\x1b[>1;10;0c"), (b"\x1b[6n", b"\x1b[1;1R")):
                if query in more:
                    os.write(fd, answer)
        elif keys and time.time() - last > 0.15:
            os.write(fd, keys.pop(0))
            last = time.time()
        elif not keys and time.time() - last > seconds:
            break
    os.kill(pid, signal.SIGKILL)
    os.close(fd)
    os.waitpid(pid, 0)
    with open(f"{HERE}/{name}.bin", "wb") as out:
        out.write(data[:limit])
    subprocess.run(["zstd", "-19", "-q", "-f", "--rm", f"{HERE}/{name}.bin"], check=True)
    print(name, len(data))


def python(code):
    return [sys.executable, "-c", code]


def main():
    prepare()
    capture("vim", ["vim", "-u", "NONE", "-N", "--cmd", "set nu hls is t_RV= ", "--cmd", "syntax on", "src/main.rs"], [b"\x06", b"\x06", b"/item_2\r", b"n", b"ofn new() {}\x1b", b"dd", b"10p", b":vsplit notes.txt\r", b"\x17w", b"G", b"gg", b"v5jd", b":help\r", b":q\r", b":set list\r", b"ggVG>", b"u", b":q!\r", b":q!\r"])
    capture("nvim", ["nvim", "-u", "NONE", "--cmd", "set nu termguicolors", "src/main.rs"], [b"\x06", b"/item_2\r", b"ohello \xe6\xbc\xa2\xe5\xad\x97\x1b", b":split\r", b"\x06", b":colorscheme habamax\r", b"G", b":q!\r", b":q!\r"])
    capture("nano", ["nano", "notes.txt"], [b"\x16", b"\x16", b"new text ", b"\x17fox\r", b"\x0b", b"\x15", b"\x18", b"n"])
    capture("less", ["less", "notes.txt"], [b" ", b" ", b"/fox\r", b"n", b"n", b"G", b"b", b"g", b"\x1b[B", b"\x1b[A", b"-S\r", b"q"])
    capture("less-wide", ["less", "wide.txt"], [b" ", b"\x1b[B", b"b", b"/\xe6\xbc\xa2\r", b"q"])
    capture("man", ["man", "ls"], [b" ", b" ", b"/color\r", b"n", b"q"], env={"MANROFFOPT": "-c", "GROFF_NO_SGR": "0"})
    capture("top", ["top", "-d", "0.3", "-n", "6"])
    capture("htop", ["htop", "-d", "3"], [b"\x1bOC", b"t", b"\x1bOB", b"\x1bOB", b"H", b"\x1bOR", b"ht", b"\x1b", b"\x1bOQ", b"\x1b", b"q"])
    capture("nmon", ["nmon", "-s", "1"], [b"c", b"m", b"d", b"n", b"q"])
    capture("tmux", ["tmux", "-L", "demo", "-f", "/dev/null", "new", "sh"], [b"ls --color=always src\r", b"\x02%", b"seq 100\r", b"\x02\"", b"cat wide.txt\r", b"\x02o", b"\x02[", b"\x1b[5~", b"q", b"\x02z", b"\x02z", b"\x02x", b"y", b"exit\r", b"exit\r"])
    capture("screen", ["screen", "-c", "/dev/null", "sh"], [b"\r", b"ls --color=always\r", b"\x01S", b"\x01\t", b"\x01c", b"seq 50\r", b"\x01\\", b"y"])
    capture("mc", ["mc", "-u"], [b"\x1b[B", b"\x1b[B", b"\t", b"\x1bOR", b"\x1b[6~", b"\x1b[21~", b"\x1b[20~", b"\x1b[C", b"\x1b", b"\x1b[21~", b"\r"])
    capture("ncdu", ["ncdu", "-0", "."], [b"\x1b[B", b"\r", b"i", b"i", b"g", b"q"])
    capture("dialog", ["dialog", "--menu", "Choose one of these", "15", "60", "5", "1", "first", "2", "second", "3", "third"], [b"\x1b[B", b"\x1b[B", b"\t", b"\t", b"\r"])
    capture("dialog-gauge", ["sh", "-c", "for i in 10 30 50 70 100; do echo $i; sleep 0.1; done | dialog --gauge Working 8 60 0"])
    capture("git-log", ["git", "-c", "core.pager=cat", "log", "--graph", "--color=always", "--stat", "-p"])
    capture("git-log-pager", ["git", "log", "--graph", "--oneline", "--color=always", "--decorate"], [b" ", b"G", b"q"])
    capture("git-diff", ["git", "-c", "core.pager=cat", "diff", "--color=always", "--word-diff=color", "HEAD~8"])
    capture("tig", ["tig"], [b"j", b"j", b"\r", b"\x06", b"q", b"s", b"q", b"q"])
    capture("fzf", ["sh", "-c", "find . -name '*.rs' -o -name '*.txt' | fzf --reverse --preview 'cat {}'"], [b"par", b"\x1b[B", b"\x7f\x7f\x7f", b"main", b"\r"])
    capture("bat", ["batcat", "--color=always", "--paging=never", "src/main.rs"])
    capture("ranger", ["ranger", "--clean"], [b"j", b"j", b"l", b"G", b"h", b"i", b"q", b"q"])
    capture("w3m", ["sh", "-c", "printf '<h1>Title</h1><table border=1><tr><td>one<td>two<tr><td>three<td>four</table><a href=x>link</a>' > t.html; w3m t.html"], [b"\t", b"j", b"q", b"y"])
    capture("cmatrix", ["cmatrix", "-b", "-u", "2"], seconds=1.0, limit=60_000)
    capture("ls", ["ls", "--color=always", "-la", "/usr/share/perl5", "/etc/alternatives"], limit=40_000)
    capture("tree", ["tree", "-C", "."])
    capture("watch", ["watch", "-n", "0.3", "-d", "--color", "ls --color=always; date +%N"], [b"", b"", b"", b"", b"q"])
    capture("pv", ["sh", "-c", "seq 3000000 | pv -L 8m > /dev/null"])
    capture("sh-editing", ["bash", "--norc", "-i"], [b"echo hello world", b"\x01", b"X", b"\x05", b" \xe6\xbc\xa2\xe5\xad\x97", b"\x7f", b"\x1bb\x1bd", b"\r", b"for i in 1 2 3; do echo $i; done\r", b"\x12echo", b"\x1b[C", b"\r", b"printf '%s\\t' a b c d; echo\r", b"clear\r", b"tput smcup; echo in; tput rmcup; echo out\r", b"exit\r"])
    capture("gdb", ["gdb", "-q", "-nx", "-tui", "/bin/true"], [b"info line\r", b"layout asm\r", b"\x1b[B", b"\x1b[B", b"layout regs\r", b"q\r"])
    capture("ipython", ["ipython", "--no-banner", "--colors=Linux"], [b"def f(x):\r    return [x, 'text', 3.5]\r\r", b"f(12)\r", b"1/0\r", b"import o\t", b"\x1b", b"\x15", b"exit\r"])
    capture("pip-progress", python("import time,sys\nfor i in range(101):\n    sys.stdout.write('\\r\\x1b[K   \\x1b[32m' + '━'*(i//2) + '\\x1b[0m\\x1b[90m' + '╺' + '━'*(50-i//2) + f'\\x1b[0m {i}/100 \\x1b[31m3.2 MB/s\\x1b[0m'); sys.stdout.flush(); time.sleep(.005)\nprint()"))
    capture("npm-spinner", python("import time,sys\nfor i in range(120):\n    sys.stdout.write('\\x1b[?25l\\x1b[1G\\x1b[0K' + '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'[i%10] + ' reify:\\x1b[90mpackage-%d\\x1b[39m: \\x1b[7mtiming\\x1b[27m' % i); sys.stdout.flush(); time.sleep(.003)\nprint('\\x1b[?25h')"))
    capture("docker-build", python("import time,sys\nlines=[0]*6\nfor t in range(40):\n    if t: sys.stdout.write('\\x1b[6A')\n    for k in range(6):\n        lines[k]=min(100, lines[k]+(t*k)%7)\n        sys.stdout.write('\\x1b[2K\\x1b[34m => [%d/6] RUN step %d\\x1b[0m \\x1b[%dG%3d%%\\r\\n' % (k+1,k,90,lines[k]))\n    sys.stdout.flush(); time.sleep(.005)"))
    capture("curses-windows", python("import curses,random\nrandom.seed(3)\ndef m(s):\n    curses.start_color(); curses.use_default_colors()\n    for i in range(1,8): curses.init_pair(i,i,-1)\n    s.scrollok(True); s.idlok(True); s.setscrreg(5,20)\n    for n in range(120):\n        s.addstr(20,0,'scrolled line %d '%n, curses.color_pair(n%8)|(curses.A_BOLD if n%3 else curses.A_REVERSE)); s.scroll(1)\n        w=curses.newwin(5,30,random.randrange(22),random.randrange(80)); w.box(); w.addstr(1,1,'window %d ░▒▓ 漢字'%n); s.noutrefresh(); w.noutrefresh(); curses.doupdate()\n        if n%10==0: s.insertln(); s.deleteln(); s.insch(3,3,'X'); s.delch(4,4); s.clrtoeol(); s.refresh()\ncurses.wrapper(m)"))


main()
