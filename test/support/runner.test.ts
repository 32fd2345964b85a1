import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { assert, type CaseContext, describe } from './suite.ts'

const here = (file: string): string => JSON.stringify(new URL(file, import.meta.url).href)
const imports = `import { describe, assert } from ${here('./suite.ts')}\n`

interface Outcome {
  readonly code: number | null
  readonly output: string
  /** The line the run closes with. */
  readonly last: string
}

/** Runs the runner in its own process on files of a temporary folder; each file gets the door's imports. */
async function runOn(
  { cleanup, signal }: CaseContext,
  files: Readonly<Record<string, string>>,
  args: readonly string[] = [],
): Promise<Outcome> {
  const root = await mkdtemp(join(tmpdir(), 'escapement-runner-'))
  cleanup(() => rm(root, { recursive: true, force: true }))
  const start = `import { runTests } from ${here('./runner.ts')}\nawait runTests(${JSON.stringify(root)}, process.argv.slice(2))\n`
  await writeFile(join(root, 'run.ts'), start)
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), imports + text)
  }
  const env = { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined, TEST_TIMEOUT_FACTOR: undefined }
  const child = spawn(process.execPath, [join(root, 'run.ts'), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
    env,
  })
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk))
  const code = await new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve))
  const output = Buffer.concat(chunks).toString()
  return { code, output, last: output.trimEnd().split('\n').at(-1) ?? '' }
}

const oneCase = (body: string): string =>
  `describe('s', (it) => { it('works', async ({ signal, cleanup }) => { ${body} }) })`

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
    failed: 2,
    says: /after describe had returned/,
  },
  {
    title: 'a group registered while the cases run',
    body: `describe('s', (it) => { it('a', () => { describe('late', (it) => { it('b', () => {}) }) }) })`,
    passed: 1,
    says: /2 cases are registered, but 1 were executed/,
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
      it('a', { timeoutMs: 5 }, () => { const from = Date.now(); while (Date.now() < from + 20); })
    })`,
    says: /the case took longer than 5 ms/,
  },
]

const fileOf = (title: string): string => `test/${title.replaceAll(' ', '-')}.test.ts`

describe('the runner fails a run for', (it) => {
  const sound = { [fileOf('sound')]: `describe('s', (it) => { it('a', () => {}) })` }
  let run: Promise<Outcome> | undefined

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
    assert.match(output, /✓ test\/deep\/two\.test\.ts {2}1 passed, 2 skipped {2}\d+ ms\n✓ test\/one\.test\.ts/)
  })

  it('runs cleanups last in first out, all of them, after a failure too', slow, async (context) => {
    const body = `cleanup(() => console.log('first in')); cleanup(() => { console.log('middle'); throw new Error('broken') })
      cleanup(async () => { await null; console.log('last in') }); throw new Error('the case itself')`
    const { last, output } = await runOn(context, { 'test/one.test.ts': oneCase(body) })
    assert.match(output, /last in\nmiddle\nfirst in\n[^]*the case itself[^]*broken/)
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

  it('refuses a test file that is run without it', slow, async (context) => {
    const root = await mkdtemp(join(tmpdir(), 'escapement-runner-'))
    context.cleanup(() => rm(root, { recursive: true, force: true }))
    await writeFile(join(root, 'one.test.ts'), `${imports}describe('s', (it) => { it('a', () => {}) })`)
    const child = spawn(process.execPath, [join(root, 'one.test.ts')], { stdio: 'ignore', signal: context.signal })
    const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
    assert.is(code, 1)
  })
})
