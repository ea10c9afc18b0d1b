/**
 * What programs wrote in two runs in which nothing had changed, and once more with one real difference. `is` names it.
 */
export interface Sample {
  readonly name: string;
  readonly once: string;
  readonly again: string;
  readonly others: readonly { readonly is: string; readonly text: string }[];
}

const vitest = ({ file, name, ms, at, total, failed }: Record<string, string>): string => ` RUN  v5.1.0 /srv/app

 ✓ ${file} (3 tests) ${ms}
   ✓ waits for the answer ${total}00ms
 × ${name} 12ms
   → expected 1 to be 2

 Test Files  1 failed | 1 passed (2)
      Tests  ${failed} failed | 3 passed (4)
   Start at  ${at}
   Duration  ${total}.21s (transform 45ms, setup 0ms, import ${ms}, tests 5ms, environment 0ms, prepare 60ms)
`;
const v1 = { file: "test/a.test.ts", name: "adds", ms: "5ms", at: "17:28:37", total: "1", failed: "1" };
const v2 = { ...v1, ms: "118ms", at: "09:02:11", total: "12" };

const jest = ({ file, ms, s, failing, passed }: Record<string, string>): string => `PASS ./${file} (${s} s)
  math
    ✓ adds (${ms} ms)
    ✕ ${failing} (1 ms)

Tests:       1 failed, ${passed} passed, 3 total
Snapshots:   0 total
Time:        ${s} s, estimated 1 s
Ran all test suites.
`;
const j1 = { file: "math.test.js", ms: "3", s: "0.512", failing: "subtracts", passed: "2" };
const j2 = { ...j1, ms: "41", s: "6.2" };

const pytest = ({
  test,
  s,
  passed,
}: Record<string, string>): string => `============================= test session starts ==============================
platform linux -- Python 3.12.3, pytest-8.3.2, pluggy-1.5.0
rootdir: /srv/app
collected 3 items

test_math.py .F.                                                         [100%]

=========================== short test summary info ============================
FAILED test_math.py::${test} - assert 1 == 2
========================= 1 failed, ${passed} passed in ${s}s =========================
`;
const p1 = { test: "test_adds", s: "0.12", passed: "2" };
const p2 = { ...p1, s: "2.07" };

const go = ({ test, s, last }: Record<string, string>): string => `--- FAIL: ${test} (${s}s)
    math_test.go:12: got 1, want 2
FAIL
FAIL	example.com/app/math	${s}s
ok  	example.com/app/text	${last}
FAIL
`;
const g1 = { test: "TestAdds", s: "0.00", last: "0.005s" };
const g2 = { ...g1, s: "1.31", last: "0.018s" };

const cargo = ({
  test,
  s,
  passed,
}: Record<string, string>): string => `    Finished \`test\` profile [unoptimized + debuginfo] target(s) in ${s}s
     Running unittests src/lib.rs (target/debug/deps/app-2f1c7e9a8b3d4c5e)

running 2 tests
test tests::adds ... ok
test tests::${test} ... FAILED

test result: FAILED. ${passed} passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in ${s}s
`;
const c1 = { test: "subtracts", s: "0.05", passed: "1" };
const c2 = { ...c1, s: "14.90" };

const maven = ({
  cls,
  s,
  run,
}: Record<string, string>): string => `[INFO] -------------------------------------------------------
[INFO]  T E S T S
[INFO] -------------------------------------------------------
[INFO] Running com.example.${cls}
[INFO] Tests run: ${run}, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: ${s} s -- in com.example.${cls}
[INFO] BUILD SUCCESS
[INFO] Total time:  ${s} s
`;
const m1 = { cls: "MathTest", s: "0.051", run: "3" };
const m2 = { ...m1, s: "2.4" };

const junit = ({ name, s, host, failures }: Record<string, string>): string => `<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="math" tests="2" failures="${failures}" hostname="${host}" time="${s}">
  <testcase name="${name}" classname="math" time="${s}"/>
</testsuite>
`;
const x1 = { name: "adds", s: "0.005", host: "one", failures: "0" };
const x2 = { ...x1, s: "1.2", host: "other-host" };

const listing = (rows: readonly string[], total: string): string => `total ${total}\n${rows.join("\n")}\n`;
const LS = [
  "drwxr-xr-x 3 root root 4096 Nov 16 17:20 .",
  "drwx------ 9 root root  280 Nov 16 17:19 ..",
  "-rw-r--r-- 1 root root   12 Nov 16 17:20 a.txt",
  "lrwxrwxrwx 1 root root    5 Nov 16 17:20 link -> a.txt",
];
const LS_AGAIN = [
  "drwxr-xr-x  2 person staff   96 Dec  1  2027 .",
  "drwxrwxrwt 41 person staff 4096 Jan  2 08:01 ..",
  "-rw-r--r--  2 person staff   12 Dec  1 11:59 a.txt",
  "lrwxrwxrwx  1 person staff    5 Dec  1 11:59 link -> a.txt",
];

export const SAMPLES: readonly Sample[] = [
  {
    name: "vitest",
    once: vitest(v1),
    again: vitest(v2),
    others: [
      { is: "another test fails", text: vitest({ ...v2, name: "subtracts" }) },
      { is: "another file", text: vitest({ ...v2, file: "test/b.test.ts" }) },
      { is: "other counts", text: vitest({ ...v2, failed: "2" }) },
    ],
  },
  {
    name: "jest",
    once: jest(j1),
    again: jest(j2),
    others: [
      { is: "another test fails", text: jest({ ...j2, failing: "divides" }) },
      { is: "other counts", text: jest({ ...j2, passed: "1" }) },
      { is: "another file", text: jest({ ...j2, file: "text.test.js" }) },
    ],
  },
  {
    name: "pytest",
    once: pytest(p1),
    again: pytest(p2),
    others: [
      { is: "another test fails", text: pytest({ ...p2, test: "test_divides" }) },
      { is: "other counts", text: pytest({ ...p2, passed: "1" }) },
    ],
  },
  {
    name: "go test",
    once: go(g1),
    again: go(g2),
    others: [
      { is: "another test fails", text: go({ ...g2, test: "TestDivides" }) },
      { is: "another place", text: go(g2).replace("math_test.go:12", "math_test.go:13") },
    ],
  },
  {
    name: "cargo test",
    once: cargo(c1),
    again: cargo(c2),
    others: [
      { is: "another test fails", text: cargo({ ...c2, test: "divides" }) },
      { is: "other counts", text: cargo({ ...c2, passed: "7" }) },
    ],
  },
  {
    name: "maven",
    once: maven(m1),
    again: maven(m2),
    others: [
      { is: "another class", text: maven({ ...m2, cls: "TextTest" }) },
      { is: "other counts", text: maven({ ...m2, run: "4" }) },
    ],
  },
  {
    name: "a JUnit report",
    once: junit(x1),
    again: junit(x2),
    others: [
      { is: "another test", text: junit({ ...x2, name: "divides" }) },
      { is: "other counts", text: junit({ ...x2, failures: "1" }) },
    ],
  },
  {
    name: "ls -la",
    once: listing(LS, "12"),
    again: listing(LS_AGAIN, "8"),
    others: [
      { is: "another name", text: listing(LS_AGAIN, "8").replaceAll("a.txt", "b.txt") },
      { is: "another size", text: listing(LS_AGAIN, "8").replace(" 12 Dec", " 13 Dec") },
      { is: "other permissions", text: listing(LS_AGAIN, "8").replace("-rw-r--r--", "-rwxr-xr-x") },
      { is: "one file more", text: listing([...LS_AGAIN, "-rw-r--r-- 1 person staff 1 Dec 1 11:59 z"], "8") },
    ],
  },
  {
    name: "ps",
    once: "    PID TTY          TIME CMD\n   1001 pts/0    00:00:00 bash\n   1042 pts/0    00:00:01 node\n",
    again: "    PID TTY          TIME CMD\n  88121 pts/3    00:00:02 bash\n  88190 pts/3    00:01:44 node\n",
    others: [{ is: "another program", text: "    PID TTY          TIME CMD\n  88121 pts/3    00:00:02 bash\n" }],
  },
  {
    name: "process ids, ports, temporary paths and addresses",
    once: "server (pid 4121) on http://127.0.0.1:43121, log in /tmp/tmp.Xa81Zq02/out.log\n[1] 4121\nat 0x7f3a12b45c00\n",
    again: "server (pid 88) on http://127.0.0.1:51900, log in /tmp/tmp.Qq7HAtzP/out.log\n[1] 5077\nat 0x55d0c0ffee10\n",
    others: [
      {
        is: "a port somebody chose",
        text: "server (pid 88) on http://127.0.0.1:8080, log in /tmp/tmp.Qq7HAtzP/out.log\n[1] 5077\nat 0x55d0c0ffee10\n",
      },
      {
        is: "another file",
        text: "server (pid 88) on http://127.0.0.1:51900, log in /tmp/tmp.Qq7HAtzP/err.log\n[1] 5077\nat 0x55d0c0ffee10\n",
      },
    ],
  },
];
