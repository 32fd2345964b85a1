import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { commands } from '../../packages/cli/src/commandList.ts'
import { parseCommandLine } from '../../packages/cli/src/commandLine.ts'
import { runSortDemo } from '../../packages/cli/src/demo/sortDemo.ts'
import { decideSort } from '../../packages/demo/src/sortPolicy.ts'
import { sortTask } from '../../packages/demo/src/sortTask.ts'
import { conversationTree } from '../../packages/cli/src/chat/conversationTree.ts'
import { coloursFor } from '../../packages/cli/src/terminal/colours.ts'
import {
  rebuildConversation,
  type AgentEvent,
  type LogRecord,
  type ModelRequest,
  type RequestMessage,
} from '../../src/index.ts'
import { runCli, type CliRunOptions } from '../../packages/cli/test/cliInProcess.ts'
import { projectFolder } from '../../packages/cli/test/cliChild.ts'
import { assert, type CaseContext, describe } from '../support/suite.ts'

const timeoutMs = 180_000
// oxlint-disable-next-line no-control-regex -- the test looks for escape sequences
const escape = /\u001B/

async function runSort(context: CaseContext, ...options: readonly string[]) {
  return await runSortBy(undefined, context, ...options)
}

async function runSortBy(run: CliRunOptions['run'], context: CaseContext, ...options: readonly string[]) {
  const cwd = projectFolder(context)
  const { code, stdout, stderr } = await runCli(context, ['demo', 'sort', ...options], {
    cwd,
    ...(run === undefined ? {} : { run }),
  })
  const folder = join(cwd, readdirSync(cwd).find((name) => name.startsWith('escapement-demo-')) ?? '')
  return { code, stdout, stderr, folder }
}

/** The demo with so many numbers. */
const sorting =
  (count: number): CliRunOptions['run'] =>
  async (args, host) => {
    const line = parseCommandLine(args, commands)
    assert.ok(line.type === 'command')
    return await runSortDemo(line.invocation, host, count)
  }

/** A limit that a merge sort keeps on a busy machine, too, and a bubble sort of so many numbers nowhere. */
const runLongSort = (context: CaseContext, ...options: readonly string[]) =>
  runSortBy(sorting(120_000), context, '--time-limit', '5000', ...options)

const eventsIn = (stdout: string): AgentEvent[] =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as AgentEvent)

const ofType = <T extends AgentEvent['type']>(events: readonly AgentEvent[], type: T) =>
  events.filter((event): event is Extract<AgentEvent, { type: T }> => event.type === type)

const recordsIn = (folder: string): LogRecord[] => {
  const log = join(folder, 'log')
  const file = readdirSync(log).find((name) => name.endsWith('.jsonl'))!
  return eventsIn(readFileSync(join(log, file), 'utf8')) as LogRecord[]
}

const callsIn = ({ messages }: ModelRequest): string[] =>
  messages.flatMap(({ content }) => content.flatMap((block) => (block.type === 'toolCall' ? [block.name] : [])))

const textIn = ({ messages }: ModelRequest): string =>
  messages.flatMap(({ content }) => content.map((block) => (block.type === 'text' ? block.text : ''))).join('\n')

describe('the sort demo', (it) => {
  it('leaves a dead end once, is shown the lesson and not the dead end, and passes', { timeoutMs }, async (context) => {
    const { code, stdout, stderr, folder } = await runLongSort(context, '--json')
    assert.is(code, 0, stderr)
    const events = eventsIn(stdout)
    const reverts = ofType(events, 'revert.applied')
    assert.equal(
      reverts.map(({ applied, category, requested }) => ({ applied, category, requested })),
      [{ applied: true, category: 'failure', requested: 'n3' }],
    )
    const at = events.indexOf(reverts[0]!)
    const requestBefore = ofType(events.slice(0, at), 'turn.request').at(-1)!.request
    const requestAfter = ofType(events.slice(at), 'turn.request')[0]!.request
    assert.equal(callsIn(requestBefore), ['read_file', 'write_file', 'run_command'])
    assert.match(textIn(requestBefore), /timed out: stopped by the limit of 5000 ms/)
    assert.not.match(textIn(requestBefore), /brake-note/)
    assert.equal(callsIn(requestAfter), ['read_file'])
    assert.match(textIn(requestAfter), /<brake-note kind="lesson" span="n4–n9">bubble sort is too slow/)
    assert.match(textIn(requestAfter), /still changed: sort\.mjs/)
    assert.equal(
      ofType(events, 'tool.end').flatMap(({ name, message }) => (name === 'run_command' ? [message.isError] : [])),
      [true, false],
    )
    assert.is(ofType(events, 'run.end')[0]?.stopReason, 'stop')
    assert.match(readFileSync(join(folder, 'project', 'sort.mjs'), 'utf8'), /merge sort/)
  })

  it('draws the trunk and the abandoned branch, the same as from the log', { timeoutMs }, async (context) => {
    const { code, stdout, stderr, folder } = await runLongSort(context)
    assert.is(code, 0, stderr)
    assert.not.match(stdout, escape)
    const lines = [
      /back to n3 \(failure\): n4–n9 set aside · frees [\d,]+ tokens, pays (?:at once|after \d+ requests)/,
      /● n2–n3 +read_file check\.mjs/,
      /│ ⚑ lesson: bubble sort is too slow/,
      /├─╮/,
      /│ ○ n4–n5 +write_file sort\.mjs/,
      /│ ○ n6–n7 +run_command node check\.mjs \d+ · timed out/,
      /│ ○ n8–n9 +revert_to_state n3 \(failure\)/,
      /● n10–n11 +write_file sort\.mjs/,
      /Request before the revert: 7 messages, [\d,]+ tokens/,
      /Request after the revert: +4 messages, [\d,]+ tokens/,
      /<brake-note kind="lesson" span="n4–n9">bubble sort/,
      /The revert frees [\d,]+ tokens, pays (?:at once|after \d+ requests)\./,
      /Checked once more.*: it sorts other numbers/,
    ]
    let rest = stdout
    for (const line of lines) {
      const found = line.exec(rest)
      assert.ok(found, `${String(line)} is missing in order in:\n${stdout}`)
      rest = rest.slice(found.index)
    }
    const tree = conversationTree(rebuildConversation(recordsIn(folder)), coloursFor({}, {}))
    assert.ok(stdout.includes(tree.map((line) => `  ${line}`).join('\n')))
  })

  it('keeps its first attempt when there is time for it', { timeoutMs }, async (context) => {
    const options = ['--json', '--time-limit', '170000']
    const { code, stdout, stderr, folder } = await runSortBy(sorting(6_000), context, ...options)
    assert.is(code, 0, stderr)
    assert.match(stdout, /must sort 6000 numbers within 170000 ms/)
    const events = eventsIn(stdout)
    assert.is(events.filter(({ type }) => type.startsWith('revert.')).length, 0)
    assert.equal(
      ofType(events, 'tool.end').map(({ name, message }) => [name, message.isError]),
      [
        ['read_file', false],
        ['write_file', false],
        ['run_command', false],
      ],
    )
    assert.match(readFileSync(join(folder, 'project', 'sort.mjs'), 'utf8'), /bubble sort/)
  })

  it('says so when nothing is fast enough, and exits with 1', { timeoutMs }, async (context) => {
    const { code, stdout } = await runSort(context, '--time-limit', '1')
    assert.is(code, 1)
    assert.match(stdout, /The merge sort is too slow as well \(timed out: stopped by the limit of 1 ms/)
    assert.match(stdout, /it does not sort other numbers within 1 ms/)
  })

  it('refuses a time limit that is none, or that nothing is held to', { timeoutMs }, async (context) => {
    for (const given of ['0', '1.5', 'soon', '600001']) {
      const { code, stdout, stderr, folder } = await runSort(context, '--time-limit', given)
      assert.equal([code, stdout, existsSync(join(folder, 'project'))], [2, '', false])
      assert.match(stderr, new RegExp(`--time-limit must be a whole number of milliseconds.*"${given}"`))
    }
    const { code, stderr } = await runCli(context, ['demo', '--time-limit', '5'])
    assert.is(code, 2)
    assert.match(stderr, /--time-limit goes with "demo sort" only/)
  })

  it('is meant by its name misspelt, which is no task', { timeoutMs }, async (context) => {
    for (const [word, meant] of [
      ['sotr', 'sort'],
      ['stal', 'stall'],
    ] as const) {
      const { code, stdout, stderr } = await runCli(context, ['demo', word])
      assert.equal([code, stdout], [2, ''])
      assert.match(stderr, `There is no demo "${word}". Did you mean "${meant}"?`)
    }
  })
})

const said = (text: string): RequestMessage => ({ role: 'user', content: [{ type: 'text', text }] })
const request = (...messages: RequestMessage[]): ModelRequest => ({ system: '', messages, tools: [], settings: {} })
const called = (name: string, input: unknown, result: string, isError = false): RequestMessage[] => {
  const callId = `call-${name}`
  return [
    { role: 'assistant', content: [{ type: 'toolCall', callId, name, input }] },
    { role: 'toolResult', callId, toolName: name, content: [{ type: 'text', text: result }], isError },
  ]
}
interface Decided {
  readonly text: string
  readonly name: string
  readonly input: Readonly<Record<string, string | number>>
}

/** The text and the call of what it decides. */
function decide(messages: readonly RequestMessage[]): Decided {
  const reply = decideSort(request(...messages))
  if (typeof reply === 'string') return { text: reply, name: '', input: {} }
  const { name = '', input = {} } = reply.toolCalls?.[0] ?? {}
  return { text: reply.text ?? '', name, input: input as Decided['input'] }
}

describe('the model of the sort demo', (it) => {
  const task = said(`${sortTask(700)}\n[n1]`)
  const opened = [task, ...called('read_file', { path: 'check.mjs' }, 'the check\n[n3]')]
  const programOf = (messages: readonly RequestMessage[]): string => String(decide(messages).input['content'])

  it('takes the time limit and the step to go back to from the request', () => {
    const program = programOf(opened)
    const written = [...opened, ...called('write_file', { path: 'sort.mjs', content: program }, 'Created\n[n5]')]
    assert.match(program, /bubble sort/)
    const check = decide(written)
    assert.equal([check.name, check.input], ['run_command', { command: 'node check.mjs 60000', timeoutMs: 700 }])
    const late = '[timed out: stopped by the limit of 700 ms after 0.7 s]'
    const back = decide([...written, ...called('run_command', {}, `${late}\n[n7]`, true)])
    assert.equal([back.name, back.input['step'], back.input['category']], ['revert_to_state', 'n3', 'failure'])
    assert.match(String(back.input['summary']), /bubble sort .*timed out.*700 ms/)
    const passed = 'sorting\nsorted in 3 ms\n[exit code 0]\n[n7]'
    const done = decide([...written, ...called('run_command', {}, passed)])
    assert.match(done.text, /is a bubble sort, and the check passes \(sorted in 3 ms\)/)
  })

  it('writes something else only if a lesson says so', () => {
    const noted = (kind: string): RequestMessage[] => [
      ...opened,
      said(`<brake-note kind="${kind}" span="n4–n9">Bubble sort is too slow</brake-note>`),
    ]
    assert.match(programOf(noted('lesson')), /merge sort/)
    assert.match(programOf(noted('finding')), /bubble sort/)
  })

  it('gives up when it may not go back, sees no id, or was asked for something else', () => {
    const refused = said('<brake-note kind="refusal">revert refused: one revert per turn</brake-note>')
    assert.match(decide([...opened, refused]).text, /may not: revert refused: one revert per turn/)
    const program = programOf(opened)
    const blind = [
      said(sortTask(700)),
      ...called('read_file', {}, 'the check'),
      ...called('write_file', { content: program }, 'Created'),
      ...called('run_command', {}, '[timed out: stopped by the limit of 700 ms after 0.7 s]', true),
    ]
    assert.match(decide(blind).text, /I see no step to go back to/)
    assert.match(decide([said('fix the test')]).text, /can do nothing else/)
  })
})
