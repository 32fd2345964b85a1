import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cacheIn, oneCase, runIn, runOn, testProject } from './runnerProcess.ts'
import { assert, describe } from './suite.ts'

const slow = { timeoutMs: 20_000 }
const here = (file: string): string => JSON.stringify(new URL(file, import.meta.url).href)

describe('a file that is called *.full.test.ts', (it) => {
  const files = { 'test/quick.test.ts': oneCase(''), 'test/dear.full.test.ts': oneCase('') }

  for (const [args, ran] of [
    [[], ['quick']],
    [['--rest'], ['dear.full']],
    [['--full'], ['dear.full', 'quick']],
    [['--nightly'], ['dear.full', 'quick']],
    [['dear'], ['dear.full']],
    [['test/'], ['dear.full', 'quick']],
    [['--quick', 'test/'], ['quick']],
    [['--rest', 'test/'], ['dear.full']],
  ] as const)
    it(
      `${ran.some((name) => name === 'dear.full') ? 'runs' : 'does not run'} with "${args.join(' ')}"`,
      slow,
      async (context) => {
        const { code, output } = await runOn(context, files, args)
        assert.equal([...output.matchAll(/✓ test\/([\w.]+)\.test\.ts/g)].map(([, name]) => name!).toSorted(), ran)
        assert.is(code, 0)
      },
    )

  it('is not asked for together with what leaves it out', slow, async (context) => {
    const { code, output } = await runOn(context, files, ['--rest', '--full'])
    assert.match(output, /--rest leaves out what --full and --nightly run: give one of them\.\nUsage/)
    assert.is(code, 1)
  })
})

describe('a file of npm test', (it) => {
  // Asking is work for the kernel, on some machines most of it.
  const burning = `
    const used = () => { const { user, system } = process.cpuUsage(); return user + system }
    const from = used(); while (used() - from < 600_000);`
  const burn = `describe('s', (it) => it('a', { timeoutMs: 60_000 }, () => {${burning} }))`
  const burnInChild = `describe('s', (it) => it('a', { timeoutMs: 60_000 }, async () => {
    const { spawnSync } = await import('node:child_process')
    spawnSync(process.execPath, ['-e', ${JSON.stringify(burning)}]) }))`

  it('may cost only so much processor time, with that of its processes, and says what to do', slow, async (context) => {
    // Deadlines of cases shrink with the budget.
    const env = { TEST_TIMEOUT_FACTOR: '0.06' }
    const files = {
      'test/cheap.test.ts': oneCase(''),
      'test/dear.test.ts': burn,
      'test/parent.test.ts': burnInChild,
      'test/dear.full.test.ts': burn,
    }
    const { output, last } = await runOn(context, files, ['test/', '--jobs', '1'], env)
    const dear = [
      ...output.matchAll(
        /^FAILED (test\/\S+) > the file itself: it took \d\.\d s of processor time, and a file of npm test may take 0\.5: make it cheaper, or call it (\S+)$/gm,
      ),
    ]
    assert.equal(dear.map(([, file, name]) => `${file} ${name}`).toSorted(), [
      'test/dear.test.ts test/dear.full.test.ts',
      'test/parent.test.ts test/parent.full.test.ts',
    ])
    assert.is(last, '4 passed, 2 failed, 0 skipped')
    assert.is((await runOn(context, files, ['--full', '--jobs', '1'], env)).last, '4 passed, 0 failed, 0 skipped')
  })

  it('has nothing that npm ci does not install, and says what to do', slow, async (context) => {
    const body = `import { describeInChromium } from ${here('../browser/chromium.ts')}
      describeInChromium('a page', (it) => it('a', {}, () => {}))`
    const { output, last } = await runOn(context, { 'test/a.test.ts': body }, [], { CHROMIUM: '/nowhere' })
    assert.match(
      output,
      'FAILED test/a.test.ts > the file itself: Error: test/a.test.ts needs Chromium, which npm test does without: call it test/a.full.test.ts',
    )
    assert.is(last, '0 passed, 1 failed, 0 skipped')
    const full = await runOn(context, { 'test/a.full.test.ts': body }, ['--rest'], { CHROMIUM: '/nowhere' })
    assert.is(full.last, '0 passed, 0 failed, 1 skipped')
  })

  it('finds the globals as Node made them, whatever the file before it did', slow, async (context) => {
    const spoil = oneCase(`
      Object.defineProperty(globalThis, 'Response', { value: class {}, writable: false, configurable: true })
      Math.random = () => 4; console.log = () => {}; process.env.SPOILT = 'yes'; delete process.env.PATH
      process.stdout.isTTY = true; process.chdir('/'); process.exitCode = 3; Date.now = () => 0`)
    const look = oneCase(`
      assert.ok(new Response('x').text); assert.is.not(Math.random(), 4); assert.ok(Date.now() > 0)
      assert.equal([process.env.SPOILT, typeof process.env.PATH, process.stdout.isTTY], [undefined, 'string', undefined])
      assert.is.not(process.cwd(), '/'); assert.is(process.exitCode, undefined)`)
    const files = { 'test/a.test.ts': spoil, 'test/b.test.ts': look }
    assert.is((await runOn(context, files, ['--jobs', '1'])).last, '2 passed, 0 failed, 0 skipped')
  })

  it('that fails is named at the end, with the command that runs it alone', slow, async (context) => {
    const files = { 'test/a.test.ts': oneCase('assert.is(1, 2)'), 'test/b.test.ts': oneCase('') }
    const { output } = await runOn(context, files)
    assert.match(
      output,
      /\nFAILED test\/a\.test\.ts > s: works\n {2}alone: npm test -- test\/a\.test\.ts\n1 passed, 1 failed, 0 skipped\n$/,
    )
  })
})

describe('a case that may be tried again', (it) => {
  const day = 24 * 3_600_000
  const flaky = `let count = 0
    describe('s', (it) => { it('a', { retries: 1 }, () => { count += 1; if (count === 1) throw new Error('the first time') }) })`

  it('passes the second time, and is told as flaky with how it failed', slow, async (context) => {
    const root = await testProject(context, { 'test/a.full.test.ts': flaky })
    const { code, output, last } = await runIn(context, root, ['--rest'])
    assert.match(
      output,
      /\nFLAKY test\/a\.full\.test\.ts > s: a: it failed, and passed when it was tried again\n +Error: the first time\n/,
    )
    assert.equal([code, last], [0, '1 passed, 0 failed, 0 skipped'])
    const kept = JSON.parse(await readFile(join(cacheIn(root), 'flaky.jsonl'), 'utf8')) as Record<string, unknown>
    assert.equal([kept['file'], kept['title']], ['test/a.full.test.ts', 's: a'])
    assert.match(String(kept['lines']), /the first time/)
  })

  it('fails when it fails twice, and any other case when it fails once', slow, async (context) => {
    const never = flaky.replace('count === 1', 'true')
    const plain = flaky.replace('{ retries: 1 }, ', '')
    const { output, last } = await runOn(context, { 'test/never.test.ts': never, 'test/plain.test.ts': plain })
    assert.not.match(output, 'FLAKY')
    assert.is(last, '0 passed, 2 failed, 0 skipped')
  })

  it('fails the nightly run when it was flaky twice in 14 days, and no other', slow, async (context) => {
    const root = await testProject(context, { 'test/a.full.test.ts': flaky })
    const list = join(cacheIn(root), 'flaky.jsonl')
    const entry = (days: number): string =>
      `${JSON.stringify({ at: Date.now() - days * day, file: 'test/a.full.test.ts', title: 's: a', lines: [] })}\n`
    await mkdir(cacheIn(root), { recursive: true })
    await writeFile(list, `${entry(15)}{"at":1\n`)
    assert.is((await runIn(context, root, ['--nightly'])).code, 0)
    await writeFile(list, entry(15))
    await appendFile(list, entry(13))
    const { code, output } = await runIn(context, root, ['--nightly'])
    assert.match(output, /FAILED .*flaky\.jsonl > test\/a\.full\.test\.ts > s: a: flaky 2 times in the last 14 days\n/)
    assert.is(code, 1)
    assert.is((await runIn(context, root, ['--rest'])).code, 0)
  })
})
