import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { oneCase, runIn, runOn, testProject } from './runnerProcess.ts'
import { assert, describe, type CaseContext } from './suite.ts'
import { Tally } from './tally.ts'
import { Worker } from './workers.ts'

const slow = { timeoutMs: 30_000 }

/** The numbers of processes that sleep for so long and have not ended. */
const sleepers = (seconds: string): readonly string[] =>
  readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8') === `sleep\0${seconds}\0`
    } catch {
      return false
    }
  })

/** A time to sleep that no other process has. */
const odd = (): string => `${1_000_000 + Math.floor(Math.random() * 1_000_000)}`

/** Sleeps in the group of the worker, in a session of its own, and where nobody waits for it. */
const start = (seconds: string): string => `
  const { spawn } = await import('node:child_process')
  spawn('sleep', ['${seconds}'], { stdio: 'ignore' }).unref()
  spawn('sleep', ['${seconds}'], { stdio: 'ignore', detached: true, env: {} }).unref()
  const shell = spawn('sh', ['-c', 'setsid sleep ${seconds} & exit'], { stdio: 'ignore' })
  await new Promise((resolve) => shell.on('exit', resolve))`

const until = async (isSo: () => boolean, { signal }: Pick<CaseContext, 'signal'>): Promise<void> => {
  while (!isSo()) {
    signal.throwIfAborted()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

describe('processes that a file of tests leaves', (it) => {
  it('fail it, and are ended', slow, async (context) => {
    const seconds = odd()
    const files = { 'test/a.test.ts': oneCase(start(seconds)), 'test/b.test.ts': oneCase('') }
    const { code, output, last } = await runOn(context, files)
    const told = output.match(
      new RegExp(`^FAILED test/a\\.test\\.ts > .*left running at the end: sleep ${seconds}$`, 'gm'),
    )
    assert.is(told?.length, 3, output)
    assert.equal([code, last], [1, '2 passed, 3 failed, 0 skipped'])
    assert.equal(sleepers(seconds), [])
  })
})

describe('a file that never yields', (it) => {
  it('is ended after its time, with what it wrote, and the next one gets another process', slow, async (context) => {
    const root = await testProject(context, {
      'test/a.test.ts': oneCase('console.log("so far"); await new Promise((done) => setTimeout(done, 50)); for (;;);'),
      'test/b.test.ts': oneCase(''),
    })
    const pids: number[] = []
    const worker = new Worker(process.env, (pid) => pids.push(pid))
    context.cleanup(() => worker.close())
    const run = (file: string, limit: number) => worker.run({ root, file, bail: false, isPage: false }, limit)
    const { report, lateAfter, output } = await run('test/a.test.ts', 1_000)
    assert.equal([report, lateAfter], [undefined, 1])
    assert.match(output, 'so far')
    assert.is((await run('test/b.test.ts', 60_000)).report?.passed, 1)
    assert.is(new Set(pids).size, 2)
  })

  it('is told as late', () => {
    const tally = new Tally()
    const [line] = tally.take(
      'test/a.test.ts',
      { report: undefined, lateAfter: 60, output: '' },
      { allSeeds: false, verbose: false },
    )
    assert.is(line, '✗ test/a.test.ts  it was ended, as it took longer than 60 s')
    assert.is(tally.failed, 1)
  })
})

describe('a run that is ended', (it) => {
  /** A run whose file has started processes and goes on: waiting, or without ever yielding. */
  async function begun(context: CaseContext, goesOn: string) {
    const seconds = odd()
    const root = await testProject(context, {
      'test/a.test.ts': `describe('s', (it) => it('a', { timeoutMs: 60_000 }, async () => { ${start(seconds)}
        ;(await import('node:fs')).writeFileSync('begun', ''); ${goesOn} }))`,
    })
    // It writes the script that this one starts.
    await runIn(context, root, ['--help'])
    const child = spawn(process.execPath, [join(root, 'run.ts')], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
    context.cleanup(() => child.kill('SIGKILL'))
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
    const ended = once(child, 'close')
    await until(() => existsSync(join(root, 'begun')), context)
    await until(() => sleepers(seconds).length === 3, context)
    return { child, seconds, root, ended, output: () => output }
  }

  const workersOf = (root: string): readonly string[] =>
    readdirSync('/proc').filter((pid) => {
      try {
        return (
          /^\d+$/.test(pid) &&
          readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('worker.ts') &&
          readFileSync(`/proc/${pid}/environ`, 'utf8').includes(root)
        )
      } catch {
        return false
      }
    })

  const wait = 'await new Promise((resolve) => setTimeout(resolve, 60_000))'

  it('by a signal says what came of the files, and leaves nothing', slow, async (context) => {
    const { child, seconds, root, ended, output } = await begun(context, wait)
    child.kill('SIGINT')
    assert.is((await ended)[0], 130)
    assert.match(output(), /\nEnded by SIGINT after 0 files\.\n[^]*0 passed, \d failed, 0 skipped\n$/)
    assert.equal([sleepers(seconds), workersOf(root)], [[], []])
  })

  for (const [how, goesOn] of Object.entries({ 'that waits': wait, 'that never yields': 'for (;;);' }))
    it(`by force leaves nothing of a file ${how}`, slow, async (context) => {
      const { child, seconds, root, ended } = await begun(context, goesOn)
      child.kill('SIGKILL')
      await ended
      await until(() => sleepers(seconds).length + workersOf(root).length === 0, context)
    })
})
