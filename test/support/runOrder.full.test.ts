import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cacheIn, oneCase, runIn, runOn, testProject, timesFile } from './runnerProcess.ts'
import { assert, describe } from './suite.ts'

const slow = { timeoutMs: 20_000 }

const sound = (...names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [`test/${name}.test.ts`, oneCase('')]))

const namesIn = (output: string): readonly string[] =>
  [...output.matchAll(/✓ test\/(\w+)\.test/g)].map(([, name]) => name!)

describe('several files', (it) => {
  it('run side by side, in as many processes as there are jobs', slow, async (context) => {
    // Each waits for the other to be there.
    const waiting = (mine: string, other: string): string =>
      oneCase(`const { existsSync, writeFileSync } = await import('node:fs')
      writeFileSync('${mine}', ''); while (!existsSync('${other}')) await new Promise((resolve) => setImmediate(resolve))`)
    const files = {
      'test/a.test.ts': waiting('a', 'b'),
      'test/b.test.ts': waiting('b', 'a'),
      ...timesFile({ 'test/a.test.ts': 9_000, 'test/b.test.ts': 9_000 }),
    }
    assert.is((await runOn(context, files, ['--jobs', '2'])).last, '2 passed, 0 failed, 0 skipped')
  })

  it('come longest first by what earlier runs took, those that are new as if in the middle', slow, async (context) => {
    const times = { 'test/a.test.ts': 10, 'test/b.test.ts': 20, 'test/d.test.ts': 30, 'test/gone.test.ts': 1 }
    const { output } = await runOn(context, { ...sound('a', 'b', 'c', 'd'), ...timesFile(times) }, ['--jobs', '1'])
    assert.equal(namesIn(output), ['d', 'b', 'c', 'a'])
  })

  it(
    'leave what they took for later runs, beside what others took, and nothing in the project',
    slow,
    async (context) => {
      const root = await testProject(context, {
        ...sound('a', 'b'),
        ...timesFile({ 'test/b.test.ts': 120, 'test/gone.test.ts': 7 }),
      })
      const { output } = await runIn(context, root, ['--times', 'a.test'])
      assert.match(output, /\n +\d+\.\d s {2}test\/a\.test\.ts\n/)
      const written = JSON.parse(await readFile(join(cacheIn(root), 'times.json'), 'utf8')) as Record<string, number>
      assert.equal(Object.keys(written), ['test/a.test.ts', 'test/b.test.ts'])
      assert.ok(written['test/a.test.ts']! > 0)
      assert.is(written['test/b.test.ts'], 120)
    },
  )

  it('run where nothing can be kept, and where what was kept is broken', slow, async (context) => {
    const root = await testProject(context, { ...sound('a'), ...timesFile({}) })
    await writeFile(join(cacheIn(root), 'times.json'), '{"test/a.test.ts":')
    assert.is((await runIn(context, root)).last, '1 passed, 0 failed, 0 skipped')
    await writeFile(join(root, 'a-file'), '')
    const { output, last } = await runIn(context, root, [], { XDG_CACHE_HOME: join(root, 'a-file') })
    assert.match(output, /The durations could not be kept: ENOTDIR/)
    assert.is(last, '1 passed, 0 failed, 0 skipped')
  })
})

describe('a shuffled run', (it) => {
  const names = Array.from({ length: 8 }, (_, at) => `f${at}`)

  it('has an order that its seed makes again, in every process, and says the seed', slow, async (context) => {
    const root = await testProject(context, sound(...names))
    const first = await runIn(context, root, ['--shuffle', '--jobs', '1'])
    const [, seed = ''] = /^In the order of --shuffle (\d+) --jobs 1\.\n/.exec(first.output) ?? []
    assert.equal(namesIn(first.output).toSorted(), names)
    const again = await runIn(context, root, ['--shuffle', seed, '--jobs', '1'])
    assert.equal(namesIn(again.output), namesIn(first.output))
    const orders = await Promise.all(
      [1, 2, 3].map((other) => runIn(context, root, [`--shuffle=${other}`, '--jobs', '1'])),
    )
    assert.ok(new Set(orders.map(({ output }) => namesIn(output).join())).size > 1)
  })

  it('gives a file to the same process each time', slow, async (context) => {
    // A process tells by a global which files it had.
    const telling = `describe('s', (it) => { it('a', () => {
      const had = (process.had ??= []); had.push(import.meta.filename.at(-9)); console.log('HAD ' + had.join('')) }) })`
    const files = Object.fromEntries(
      names.map((name) => [`test/${name}.test.ts`, `${telling}\n${oneCase('throw 1').replace("'s'", "'t'")}`]),
    )
    const root = await testProject(context, { ...files, ...timesFile({ 'test/f0.test.ts': 9_000 }) })
    const had = async (): Promise<readonly string[]> =>
      [...(await runIn(context, root, ['--shuffle', '7', '--jobs', '2'])).output.matchAll(/HAD (\d+)/g)]
        .map(([, each]) => each!)
        .toSorted()
    const first = await had()
    assert.is(first.length, names.length)
    assert.is(first.filter((each) => each.length === names.length / 2).length, 2)
    assert.equal(await had(), first)
  })
})

describe('the parts of a run', (it) => {
  it('have each file in one of them', slow, async (context) => {
    const root = await testProject(context, sound('a', 'b', 'c', 'd', 'e'))
    const parts = await Promise.all(['1/2', '2/2'].map((part) => runIn(context, root, ['--shard', part])))
    assert.equal(
      parts.map(({ output }) => namesIn(output).toSorted()),
      [
        ['a', 'c', 'e'],
        ['b', 'd'],
      ],
    )
    const { code, last } = await runIn(context, root, ['--shard', '9/9'])
    assert.equal([code, last], [0, '0 passed, 0 failed, 0 skipped'])
  })
})
