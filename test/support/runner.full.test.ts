import { oneCase, runOn, type RunnerOutcome } from './runnerProcess.ts'
import { assert, describe } from './suite.ts'

interface Defect {
  readonly title: string
  readonly body: string
  /** Cases of the file that pass all the same; 0 when left out. */
  readonly passed?: number
  readonly failed?: number
  readonly says: RegExp
}

/** Each of these ends a run of uvu with exit code 0, or never. */
const defects: readonly Defect[] = [
  { title: 'a failed assertion', body: oneCase('assert.is(1, 2)'), says: /strictly equal/ },
  { title: 'a thrown string', body: oneCase('throw "oops"'), says: /threw 'oops'/ },
  { title: 'a thrown undefined', body: oneCase('throw undefined'), says: /threw undefined/ },
  {
    title: 'a thrown object that cannot be shown',
    body: oneCase('throw new Proxy({}, { get() { throw 1 }, getPrototypeOf() { throw 2 } })'),
    says: /threw a value that cannot be shown/,
  },
  {
    title: 'a cleanup that throws',
    body: oneCase('cleanup(() => { throw new Error("undone") })'),
    says: /cleanup:\n\s+Error: undone/,
  },
  {
    title: 'a cleanup that never ends',
    body: `describe('s', (it) => {
      it('works', { timeoutMs: 20 }, ({ cleanup }) => { cleanup(() => new Promise(() => {})) })
    })`,
    says: /the cleanup took longer than 20 ms/,
  },
  {
    title: 'a cleanup registered after its case',
    body: `describe('s', (it) => {
      let late
      it('a', ({ cleanup }) => { late = cleanup })
      it('b', () => { late(() => {}) })
    })`,
    passed: 1,
    says: /cleanup\(\) was called after the case had ended/,
  },
  { title: 'a file without a case', body: 'void describe', says: /no case is registered/ },
  {
    title: 'a group without a case',
    body: `describe('full', (it) => { it('a', () => {}) }); describe('hollow', () => {})`,
    passed: 1,
    says: /"hollow": describe has no cases/,
  },
  {
    title: 'a case without a body',
    body: `describe('s', (it) => { it('a', () => {}); it('b') })`,
    passed: 1,
    says: /it\("b"\) has no body/,
  },
  { title: 'a file that throws when loaded', body: 'throw new Error("not today")', says: /not today/ },
  { title: 'a file that imports nothing that exists', body: 'import "./nowhere.ts"', says: /Cannot find module/ },
  {
    title: 'a group registered asynchronously',
    body: `describe('s', async (it) => { it('a', () => {}); await null; it('b', () => {}) })`,
    passed: 1,
    says: /describe takes a synchronous function/,
  },
  {
    title: 'a case registered after its group',
    body: `describe('s', (it) => { it('a', () => { it('b', () => {}) }) })`,
    says: /it\("b"\) was called after describe had returned/,
  },
  {
    title: 'a group registered while the cases run',
    body: `describe('s', (it) => { it('a', () => { describe('late', (it) => { it('b', () => {}) }) }) })`,
    says: /describe\("late"\) was called too late/,
  },
  {
    title: 'a group that uvu has lost',
    body: `describe('s', (it) => { it('a', () => {}) }); describe('t', (it) => { it('b', () => {}) })
      globalThis.UVU_QUEUE.at(-1).pop()`,
    passed: 1,
    says: /2 cases are registered, 1 were executed, uvu counts 1/,
  },
  {
    title: 'a group that uvu runs twice',
    body: `describe('s', (it) => { it('a', () => {}) }); globalThis.UVU_QUEUE.at(-1).push(globalThis.UVU_QUEUE.at(-1).at(-1))`,
    passed: 2,
    says: /1 cases are registered, 2 were executed, uvu counts 2/,
  },
  {
    title: 'a suite of uvu itself that nobody runs',
    body: `import { suite } from 'uvu'; suite('x')('a', () => { throw new Error() }); ${oneCase('')}`,
    passed: 1,
    says: /it imports uvu: a test file goes through describe/,
  },
  {
    title: 'a hook of uvu that throws',
    body: `import { test } from 'uvu'; test.before(() => { throw new Error() }); test('a', () => {}); test.run()`,
    failed: 3,
    says: /1 of 1 cases did not end, for a hook or a case threw what uvu does not see/,
  },
  {
    title: 'a hook of uvu that throws at the end',
    body: `import { test } from 'uvu'; test.after(() => { throw new Error('after all') }); test('a', () => {}); test.run()`,
    failed: 2,
    says: /after all/,
  },
  {
    title: 'two cases of one title',
    body: `describe('s', (it) => { it('a', () => {}); it('a', () => {}) })`,
    passed: 1,
    says: /two cases are called "a"/,
  },
  {
    title: 'an assertion nobody awaits',
    body: oneCase('void (async () => { assert.is(1, 2) })()'),
    says: /unhandled rejection:\n\s+Assertion/,
  },
  {
    title: 'a rejection after the last case',
    body: oneCase('setTimeout(() => Promise.reject(new Error("late")), 5)'),
    passed: 1,
    says: /outside of any case[^]*late/,
  },
  {
    title: 'an exception in a callback',
    body: oneCase('await new Promise((done) => setImmediate(() => { done(undefined); throw new Error("stray") }))'),
    says: /uncaught exception:\n\s+Error: stray/,
  },
  {
    title: 'a timer left open',
    body: oneCase('setInterval(() => {}, 1000)'),
    passed: 1,
    says: /left open at the end: Timeout/,
  },
  {
    title: 'a server left open',
    body: oneCase(
      'const { createServer } = await import("node:net"); await new Promise((ok) => createServer().listen(0, () => ok(0)))',
    ),
    passed: 1,
    says: /left open at the end: TCPServerWrap/,
  },
  {
    title: 'a case that never ends',
    body: `describe('s', (it) => { it('a', { timeoutMs: 20 }, () => new Promise(() => {})); it('b', () => {}) })`,
    passed: 1,
    says: /the case took longer than 20 ms/,
  },
  {
    title: 'a case that blocks past its deadline',
    body: `describe('s', (it) => {
      it('a', { timeoutMs: 5 }, () => { const { user } = process.cpuUsage(); while (process.cpuUsage().user < user + 20_000); })
    })`,
    says: /the case took longer than 5 ms/,
  },
]

const fileOf = (title: string): string => `test/${title.replaceAll(' ', '-')}.test.ts`

describe('the runner fails a run for', (it) => {
  const sound = { [fileOf('sound')]: `describe('s', (it) => { it('a', () => {}) })` }
  let run: Promise<RunnerOutcome> | undefined

  for (const { title, passed = 0, failed = 1, says } of defects) {
    it(title, { timeoutMs: 20_000 }, async (context) => {
      const files = Object.fromEntries(defects.map((defect) => [fileOf(defect.title), defect.body]))
      const { code, output, last } = await (run ??= runOn(context, { ...files, ...sound }))
      const from = output.indexOf(`✗ ${fileOf(title)}  ${passed} passed, ${failed} failed  `)
      assert.is.not(from, -1, output)
      const after = output.slice(from + 1)
      assert.match(after.slice(0, after.search(/^[✓✗] /m)), says)
      assert.match(output, `✓ ${fileOf('sound')}  1 passed  `)
      const sum = (pick: (defect: Defect) => number): number =>
        defects.reduce((total, defect) => total + pick(defect), 0)
      assert.is(
        last,
        `${1 + sum((defect) => defect.passed ?? 0)} passed, ${sum((defect) => defect.failed ?? 1)} failed, 0 skipped`,
      )
      assert.is(code, 1)
    })
  }

  const alone: readonly { title: string; files: Record<string, string>; says: RegExp }[] = [
    { title: 'a thrown value alone', files: { 'test/a.test.ts': oneCase('throw undefined') }, says: /threw undefined/ },
    {
      title: 'a test that ends the process',
      files: { 'test/a.test.ts': oneCase('process.exit(0)') },
      says: /ended before/,
    },
    {
      title: 'a file of another ending',
      files: { 'test/a.test.ts': oneCase(''), 'test/b.spec.ts': '' },
      says: /b\.spec\.ts would/,
    },
    { title: 'an empty folder', files: { 'test/a.ts': '' }, says: /There are no test files/ },
  ]
  for (const { title, files, says } of alone) {
    it(title, { timeoutMs: 20_000 }, async (context) => {
      const { code, output, last } = await runOn(context, files)
      assert.match(output, says)
      assert.is(last, '0 passed, 1 failed, 0 skipped')
      assert.is(code, 1)
    })
  }
})

describe('the runner', (it) => {
  const slow = { timeoutMs: 20_000 }

  it('passes a sound file and skips what is marked', slow, async (context) => {
    const body = `describe('s', (it) => { it('a', () => {}); it.skip('b', () => { throw new Error() }); it.skip('c') })`
    const { code, last, output } = await runOn(context, {
      'test/one.test.ts': body,
      'test/deep/two.test.ts': body,
      'test/types/x.ts': 'boom',
    })
    assert.is(last, '2 passed, 0 failed, 4 skipped')
    assert.is(code, 0)
    assert.match(
      output,
      /✓ test\/deep\/two\.test\.ts {2}1 passed, 2 skipped {2}\d+ ms {2}\(1 of 2, \d+:\d\d left\)\n✓ test\/one\.test\.ts .*\(2 of 2\)\n/,
    )
    assert.match(output, /\n2 files in \d+:\d\d, \d+ s of processor time\n/)
  })

  it('runs cleanups last in first out, all of them, after a failure too', slow, async (context) => {
    const body = `cleanup(() => console.log('first in')); cleanup(() => { console.log('middle'); throw new Error('broken') })
      cleanup(async () => { await null; console.log('last in') }); throw new Error('the case itself')`
    const { last, output } = await runOn(context, { 'test/one.test.ts': oneCase(body) })
    assert.match(output, /last in\n +middle\n +first in\n[^]*the case itself[^]*broken/)
    assert.is(last, '0 passed, 1 failed, 0 skipped')
  })

  it('aborts the signal of a case at its deadline with an error', slow, async (context) => {
    const body = `describe('s', (it) => { it('a', { timeoutMs: 20 }, ({ signal }) => new Promise(() => {
      signal.addEventListener('abort', () => console.log('aborted with', signal.reason instanceof Error)) })) })`
    assert.match((await runOn(context, { 'test/one.test.ts': body })).output, /aborted with true/)
  })

  it('runs only the files that a filter names, and refuses a filter that names none', slow, async (context) => {
    const files = { 'test/one.test.ts': oneCase(''), 'test/two.test.ts': 'throw new Error()' }
    assert.is((await runOn(context, files, ['one'])).last, '1 passed, 0 failed, 0 skipped')
    const idle = await runOn(context, files, ['one', 'three'])
    assert.match(idle.output, /No test file has "three" in its path/)
    assert.is(idle.code, 1)
    assert.is((await runOn(context, files, ['--what'])).code, 1)
  })

  it('stops at the first failure with --bail, and names each case with --verbose', slow, async (context) => {
    const body = `describe('s', (it) => { it('a', () => {}); it('b', () => { throw 1 }); it('c', () => {}) })`
    const { last, output } = await runOn(context, { 'test/one.test.ts': body, 'test/two.test.ts': body }, [
      '--bail',
      '--verbose',
    ])
    assert.is(last, '1 passed, 1 failed, 0 skipped')
    assert.match(output, /✓ s: a .*\n.*✗ s: b/)
  })

  it('keeps the report of a huge difference short and quick', slow, async (context) => {
    const body = `const make = (last) => ({ rows: Array.from({ length: 50_000 }, (_, n) => ({ n, text: 'x'.repeat(200) })), last })
      const a = make(1), b = make(2); a.self = a; b.self = b; delete a.self; delete b.self; b.rows[40_000].n = -1
      assert.equal(a, b)`
    const { output, last } = await runOn(context, { 'test/one.test.ts': oneCase(body) })
    assert.is(last, '0 passed, 1 failed, 0 skipped')
    assert.match(output, /first difference at .*\.last/)
    assert.ok(output.length < 10_000, `the output has ${output.length} characters`)
  })

  it('has uvu report what failed', slow, async (context) => {
    const { output } = await runOn(context, { 'test/one.test.ts': oneCase('assert.is(1, 2)') })
    assert.match(output, /FAIL\s+s\s+"works"[^]*Total: +1[^]*Passed: +0/)
  })

  it('goes on with the other files when one ends the process', slow, async (context) => {
    const files = {
      'test/a.test.ts': oneCase('console.log("farewell"); process.exit(0)'),
      'test/b.test.ts': oneCase(''),
    }
    const { code, last, output } = await runOn(context, files, ['--jobs', '1'])
    assert.match(output, /✗ test\/a\.test\.ts {2}the process ended before the tests did {2}\(.*\)\n[^]*farewell/)
    assert.is(last, '1 passed, 1 failed, 0 skipped')
    assert.is(code, 1)
  })

  it('fails a skipped case where CI is set', slow, async (context) => {
    const files = { 'test/a.test.ts': `describe('s', (it) => { it('a', () => {}); it.skip('b') })` }
    const { last, output } = await runOn(context, files, [], { CI: 'true' })
    assert.match(output, /"b" is skipped, and where CI is set nothing may be/)
    assert.is(last, '1 passed, 1 failed, 0 skipped')
    assert.is((await runOn(context, files, [], { CI: 'false' })).last, '1 passed, 0 failed, 1 skipped')
  })

  it('tells the files whether all seeds are wanted', slow, async (context) => {
    const files = { 'test/a.test.ts': oneCase(`assert.is(process.env.TEST_SEEDS, 'all')`) }
    assert.is((await runOn(context, files)).code, 1)
    assert.is((await runOn(context, files, ['--full'])).code, 0)
  })
})
