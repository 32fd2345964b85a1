import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { commands } from '../../packages/cli/src/commandList.ts'
import { parseCommandLine } from '../../packages/cli/src/commandLine.ts'
import { runStallDemo } from '../../packages/cli/src/demo/stall/stallDemo.ts'
import { buildTask, decideBuild } from '../../packages/cli/src/demo/stall/stallPolicy.ts'
import type { BrakingOptions, LogRecord, ModelRequest, RequestMessage } from '../../src/index.ts'
import { runCli, startCli, type CliRunOptions } from '../../packages/cli/test/cliInProcess.ts'
import { projectFolder } from '../../packages/cli/test/cliChild.ts'
import { assert, type CaseContext, describe } from '../support/suite.ts'

const timeoutMs = 120_000

const runWith =
  (braking: BrakingOptions): NonNullable<CliRunOptions['run']> =>
  async (args, host) => {
    const line = parseCommandLine(args, commands)
    assert.ok(line.type === 'command')
    return await runStallDemo(line.invocation, host, braking)
  }

async function runDemo(context: CaseContext, options: Partial<CliRunOptions>, ...args: readonly string[]) {
  const cwd = projectFolder(context)
  const ended = await runCli(context, ['demo', 'stall', '--no-serve', ...args], { ...options, cwd })
  const folder = join(
    cwd,
    readdirSync(cwd).find((name) => name.startsWith('escapement-demo-'))!,
  )
  const log = join(folder, 'log')
  const file = readdirSync(log).find((name) => name.endsWith('.jsonl'))!
  const lines = readFileSync(join(log, file), 'utf8').trimEnd().split('\n')
  return { ...ended, folder, records: lines.map((line) => JSON.parse(line) as LogRecord) }
}

const ofType = <T extends LogRecord['type']>(records: readonly LogRecord[], type: T) =>
  records.filter((record): record is Extract<LogRecord, { type: T }> => record.type === type)

const callsIn = (records: readonly LogRecord[]) =>
  ofType(records, 'tool.end').map(({ message }) => [message.toolName, message.isError])

describe('the stall demo', (it) => {
  it(
    'loops, is told, loops on, is taken back to before the loop, and goes another way',
    { timeoutMs },
    async (context) => {
      const { code, stdout, stderr, folder, records } = await runDemo(context, {})
      assert.is(code, 0, stderr)
      const failed = ['build', true]
      assert.equal(callsIn(records), [
        ['read_file', false],
        failed,
        failed,
        failed,
        failed,
        ['read_file', false],
        ['run_command', false],
        ['build', false],
      ])
      assert.equal(
        ofType(records, 'stall.detected').map(({ rung, target, steps }) => [rung, target, steps.length]),
        [
          ['note', 3, 3],
          ['revert', 3, 4],
        ],
      )
      assert.equal(
        ofType(records, 'revert.applied').map(({ applied, target }) => [applied, target]),
        [[true, 3]],
      )
      assert.equal(JSON.parse(readFileSync(join(folder, 'project', 'dist', 'prices.json'), 'utf8')), {
        book: 25,
        pan: 30,
        lamp: 45,
      })
      assert.not.ok(existsSync(join(folder, 'project', 'build.lock')))
      let rest = stdout
      for (const line of [
        /A build that died has left build\.lock/,
        /↻ in circles: the same call with the same result 3 times: build → error: another build is running.* · the model is told/,
        /I am told that I go in circles\. But/,
        /↻ in circles: .* 4 times.* · it is taken back/,
        /↩ back to n3 \(failure\): n4–n11 set aside/,
        /A note says that building again and again led nowhere/,
        /Done: dist\/prices\.json has 3 prices/,
        /3 equal steps: the model is told: You are going in circles/,
        /4 equal steps: it is taken back to n3, the step before the loop, with a lesson/,
        /9 of at most 30 requests/,
        /│ ○ n10–n11 +build/,
        /Checked once more, apart from the agent: dist\/prices\.json is built/,
        /Next: .*escapement demo sort\. .*docs\/quickStart\.md/,
      ]) {
        const found = line.exec(rest)
        assert.ok(found, `${String(line)} is missing in order in:\n${stdout}`)
        rest = rest.slice(found.index)
      }
    },
  )

  it('goes round until its limit when nothing looks for loops', { timeoutMs }, async (context) => {
    const { code, stdout, records } = await runDemo(context, { run: runWith({}) })
    assert.is(code, 1)
    assert.equal(callsIn(records), [['read_file', false], ...Array.from({ length: 29 }, () => ['build', true])])
    assert.match(stdout, /paused: the limit of 30 turns is reached/)
    assert.match(stdout, /30 of at most 30 requests/)
    assert.match(stdout, /dist\/prices\.json is not built/)
  })

  it('is paused where it may not be taken back', { timeoutMs }, async (context) => {
    const { code, stdout, records } = await runDemo(context, { run: runWith({ stall: { revert: false } }) })
    assert.is(code, 1)
    assert.is(callsIn(records).length, 6)
    assert.match(stdout, /5 equal steps: the run is paused/)
    assert.match(stdout, /paused: it went in circles/)
  })

  it('has the page beside it, and stays with it when told to', { timeoutMs }, async (context) => {
    const run = startCli(context, ['demo', 'stall', '--stay'])
    await run.until('The page stays at')
    const [, project = ''] = /The folder is (\S+);/.exec(run.stdout) ?? []
    context.cleanup(() => rmSync(dirname(project), { recursive: true }))
    assert.match(run.stdout, /Watch and drive it: http:\S+#agent=coder-/)
    assert.match(run.stdout, /There the conversation shows the loop beside the trunk/)
    run.signal()
    assert.is(await run.ended, 0)
  })

  it('is events as data', { timeoutMs }, async (context) => {
    const { code, stdout } = await runDemo(context, {}, '--json')
    assert.is(code, 0)
    const types = stdout
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { readonly type: string }).type)
    assert.is(types.filter((type) => type === 'stall.detected').length, 2)
  })
})

const said = (...texts: string[]): RequestMessage => ({
  role: 'user',
  content: texts.map((text) => ({ type: 'text', text })),
})
const result = (toolName: string, text: string, isError = false): RequestMessage => ({
  role: 'toolResult',
  callId: 'c',
  toolName,
  content: [{ type: 'text', text: `${text}\n[n9]` }],
  isError,
})

describe('the model of the stall demo', (it) => {
  const task = said(buildTask)
  const readme = result('read_file', 'how to build')
  const locked = result('build', 'another build is running: build.lock exists', true)
  const lesson = said('<brake-note kind="lesson" span="n4–n11">the same call</brake-note>')
  const decide = (...messages: RequestMessage[]) => {
    const reply = decideBuild({ system: '', messages, tools: [], settings: {} } satisfies ModelRequest)
    return typeof reply === 'string' ? { text: reply } : { text: reply.text ?? '', ...reply.toolCalls?.[0] }
  }

  it('goes round as long as no lesson is in its request, whatever else it is told', () => {
    assert.equal(decide(task, readme).name, 'build')
    for (const times of [1, 2, 20])
      assert.is(decide(task, readme, ...Array.from({ length: times }, () => locked)).name, 'build')
    const warned = decide(task, readme, locked, said('<brake-note kind="stall">You are going in circles</brake-note>'))
    assert.equal([warned.name, /I am told/.test(warned.text)], ['build', true])
  })

  it('looks into the lock when there is one, and builds once that is gone', () => {
    assert.equal(decide(task, readme, lesson).input, { path: 'build.lock' })
    const lock = result('read_file', '{"pid":77,"since":""}')
    const asks = decide(task, readme, lesson, lock)
    assert.equal([asks.text, asks.input], ['Is process 77 still there?', { command: 'node unlock.mjs' }])
    const freed = result('run_command', 'process 77 is gone')
    assert.is(decide(task, readme, lesson, lock, freed).name, 'build')
    assert.is(decide(task, readme, lesson, lock, freed, result('build', 'built\n')).text, 'Done: built.')
  })

  it('gives up when it is asked for something else, or knows no way on', () => {
    const lock = result('read_file', '{"pid":77}')
    const held = result('run_command', 'process 77 is still there', true)
    assert.match(decide(said('Sort.')).text, /can do nothing else/)
    assert.match(decide(task, result('read_file', 'no such file', true)).text, /no such file/)
    assert.match(decide(task, readme, result('build', 'no prices.csv', true)).text, /The build failed: no prices\.csv/)
    assert.match(decide(task, readme, lesson, lock, held).text, /The lock is held: process 77 is still there/)
    const freed = result('run_command', 'process 77 is gone')
    assert.match(decide(task, readme, lesson, lock, freed, locked).text, /locked again/)
  })
})
