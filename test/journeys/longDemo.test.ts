import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { commands } from '../../packages/cli/src/commandList.ts'
import { parseCommandLine } from '../../packages/cli/src/commandLine.ts'
import { runLongDemo } from '../../packages/cli/src/demo/long/longDemo.ts'
import { decideLong } from '../../packages/cli/src/demo/long/longPolicy.ts'
import { longTask } from '../../packages/cli/src/demo/long/longTask.ts'
import { RequestMeter } from '../../packages/cli/src/demo/long/requestMeter.ts'
import { sparkline } from '../../packages/cli/src/demo/long/sparkline.ts'
import type { AgentEvent, LogRecord, ModelRequest, RequestMessage } from '../../src/index.ts'
import { runCli, startCli, type CliRunOptions } from '../../packages/cli/test/cliInProcess.ts'
import { projectFolder } from '../../packages/cli/test/cliChild.ts'
import { savedWords } from '../../packages/charts/src/savingsWords.ts'
import { savingsOf } from '../../packages/sessions/src/savings/savings.ts'
import { assert, describe } from '../support/suite.ts'

const timeoutMs = 120_000
// oxlint-disable-next-line no-control-regex -- the test looks for escape sequences
const escape = /\u001B/
// oxlint-disable-next-line no-control-regex -- how a line is drawn again
const redrawn = /\r\u001B\[J[▁-█]+ /

type RecordOf<T extends LogRecord['type']> = Extract<LogRecord, { type: T }>

const ofType = <T extends LogRecord['type']>(records: readonly LogRecord[], type: T): RecordOf<T>[] =>
  records.filter((record): record is RecordOf<T> => record.type === type)

function recordsIn(folder: string): LogRecord[] {
  const log = join(folder, 'log')
  const file = readdirSync(log).find((name) => name.endsWith('.jsonl'))!
  const lines = readFileSync(join(log, file), 'utf8').trimEnd().split('\n')
  return lines.map((line) => JSON.parse(line) as LogRecord)
}

/** The demo with so many modules that nothing is folded yet. */
const runShort: CliRunOptions['run'] = async (args, host) => {
  const line = parseCommandLine(args, commands)
  assert.ok(line.type === 'command')
  return await runLongDemo(line.invocation, host, 16)
}

const sizeOf = ({ message: { usage } }: RecordOf<'reply.end'>): number =>
  usage.input + usage.cacheRead + usage.cacheWrite

describe('the long demo', (it) => {
  it('folds, recalls what the index names, passes, and says what it saved', { timeoutMs }, async (context) => {
    const cwd = projectFolder(context)
    const { code, stdout, stderr } = await runCli(context, ['demo', 'long'], { cwd })
    assert.is(code, 0, stderr)
    assert.not.match(stdout, escape)
    const folder = join(
      cwd,
      readdirSync(cwd).find((name) => name.startsWith('escapement-demo-'))!,
    )
    const records = recordsIn(folder)
    const folds = ofType(records, 'prune.applied')
    const replies = ofType(records, 'reply.end')
    const sizes = replies.map(sizeOf)

    // Each fold: the request drops to what the terminal says.
    assert.ok(replies.length > 200 && folds.length >= 4)
    const said = Array.from(
      stdout.matchAll(/▼ folded (\d+) steps: ([\d,]+) → ([\d,]+) tokens, pays after (\d+)/g),
      (found) => found.slice(1).map((part) => Number(part.replaceAll(',', ''))),
    )
    const expected = folds.map((fold) => {
      const next = replies.findIndex((reply) => records.indexOf(reply) > records.indexOf(fold))
      assert.is(fold.by, 'runtime')
      assert.ok(sizes[next]! < sizes[next - 1]! / 1.5)
      return [fold.steps.length, sizes[next - 1], sizes[next], fold.economics?.paysAfter]
    })
    assert.equal(said, expected)

    // Each recall is of a step that was folded, where the newest index has the name.
    const recalls = ofType(records, 'tool.start').filter(({ name }) => name === 'recall')
    assert.ok(recalls.length >= 5)
    for (const recall of recalls) {
      const { step = '', query } = recall.input as { readonly step?: string; readonly query?: string }
      const before = records.slice(0, records.indexOf(recall))
      const hidden = ofType(before, 'prune.applied').flatMap(({ steps }) => steps)
      assert.ok(hidden.includes(Number(step.slice(1))), step)
      if (query === undefined) continue
      const line = ofType(before, 'prune.applied')
        .at(-1)!
        .index!.split('\n')
        .find((names) => names.startsWith(`${step} `))
      assert.ok(line?.split(' ').includes(query.replace('function ', '')), `${step}: ${line}`)
    }
    assert.equal(
      ofType(records, 'tool.end').filter(({ name, message }) => name !== 'run_command' && message.isError),
      [],
    )

    const peak = Math.max(...sizes).toLocaleString('en-US')
    for (const line of [
      /↑ What \w+ takes was folded away; the index says n\d+\. recall → n\d+ \(hidden\), lines \d+–\d+ of \d+/,
      /the check says "96 of 96 modules compute what they should"/,
      new RegExp(`requests +${replies.length}: ${folds.length} folds of \\d+ steps, ${recalls.length} recalls`),
      new RegExp(`with folding +[▁-█]+ up to ${peak} tokens`),
      `saved, net    ${savedWords(savingsOf(records))}`,
      /names lost +0 of \d+ used again; [1-9]\d* stood only in the index/,
      /Checked once more.*: all 96 modules compute what they should/,
    ])
      assert.ok(typeof line === 'string' ? stdout.includes(line) : line.test(stdout), String(line))
  })

  it('draws one line at a terminal and stops at Ctrl-C', { timeoutMs }, async (context) => {
    const run = startCli(context, ['demo', 'long', '--no-serve'], { isTerminal: true, run: runShort })
    await run.until('requests · Ctrl-C to stop')
    const [, project = ''] = /The folder is (\S+);/.exec(run.stdout) ?? []
    context.cleanup(() => rmSync(dirname(project), { recursive: true }))
    run.signal()
    assert.is(await run.ended, 130)
    assert.match(run.raw, redrawn)
    assert.match(run.stdout, /aborted/)
    assert.not.match(run.stdout, /What folding did/)
  })

  it('does without a fold where there is nothing to fold, and refuses a time limit', { timeoutMs }, async (context) => {
    const short = await runCli(context, ['demo', 'long', '--no-serve'], { run: runShort })
    assert.is(short.code, 0, short.stderr)
    assert.match(short.stdout, /requests +\d+: 0 folds of 0 steps, 0 recalls/)
    assert.match(short.stdout, /all 16 modules/)
    const limited = await runCli(context, ['demo', 'long', '--time-limit', '5'])
    assert.is(limited.code, 2)
    assert.match(limited.stderr, /--time-limit goes with "demo sort" only/)
  })
})

const said = (...texts: string[]): RequestMessage => ({
  role: 'user',
  content: texts.map((text) => ({ type: 'text', text })),
})
const request = (...messages: RequestMessage[]): ModelRequest => ({ system: '', messages, tools: [], settings: {} })
const called = (name: string, input: unknown, result: string, isError = false): RequestMessage[] => {
  const callId = `call-${name}-${JSON.stringify(input)}`
  return [
    { role: 'assistant', content: [{ type: 'toolCall', callId, name, input }] },
    { role: 'toolResult', callId, toolName: name, content: [{ type: 'text', text: result }], isError },
  ]
}

describe('the model of the long demo', (it) => {
  const task = said(`${longTask}\n[n1]`)
  const source = `import { depotCost } from '../depot/cost.js'\n\nexport function fleetCost({ vans, stops }) {\n  // Of the depot.\n  const first = depotCost(vans, 3)\n`
  const memo = `<brake-note kind="memo" span="n2–n40">n2 Which files are there? · list_files src\nn9 Next file. · read_file src/depot/cost.js</brake-note>`
  const index = `<brake-note kind="index">\nn2 src/fleet/cost.js src/fleet/delay.js\nn9 depotCost depotDelay\n</brake-note>`
  const reading = called('read_file', { path: 'src/fleet/cost.js' }, `${source}[n44]`)
  const decide = (...messages: RequestMessage[]) => {
    const reply = decideLong(request(...messages))
    return typeof reply === 'string' ? { text: reply } : { text: reply.text, ...reply.toolCalls?.[0] }
  }

  it('recalls what the index names, searches for what it does not, and edits once it sees the declaration', () => {
    const recall = { step: 'n9', query: 'function depotCost', lines: 3 }
    const found = called(
      'recall',
      recall,
      'n9 (hidden), line 3 of 9:\nexport function depotCost({ crates, kilos }) {\n[n46]',
    )
    assert.equal(decide(task, said(memo, index), ...reading).input, recall)
    assert.is(decide(task, said(memo), ...reading).name, 'search_files')
    assert.is(
      decide(task, said(memo, index), ...reading, ...called('recall', recall, 'none', true)).name,
      'search_files',
    )
    assert.equal(decide(task, said(memo, index), ...reading, ...found).input, {
      path: 'src/fleet/cost.js',
      oldText: '  // Of the depot.\n  const first = depotCost(vans, 3)',
      newText: '  // Of the depot.\n  const first = depotCost({ crates: vans, kilos: 3 })',
    })
  })

  it('takes the next file from the list, else from the index, and recalls the list when that ends', () => {
    const listed = called('list_files', { path: 'src' }, 'src/depot/cost.js\nsrc/fleet/cost.js\n[n3]')
    assert.equal(decide(task).name, 'list_files')
    assert.equal(decide(task, ...listed).input, { path: 'src/depot/cost.js' })
    assert.equal(decide(task, said(memo, index)).input, { path: 'src/depot/cost.js' })
    const read = called('read_file', { path: 'src/depot/cost.js' }, 'nothing to fix')
    assert.equal(decide(task, said(memo, index), ...read).input, { path: 'src/fleet/cost.js' })
    assert.equal(decide(task, said(memo), ...read).input, { step: 'n2' })
    const again = called('recall', { step: 'n2' }, 'n2 (hidden):\nresult of list_files\nsrc/depot/cost.js')
    assert.is(decide(task, said(memo), ...read, ...again).name, 'run_command')
  })

  it('gives up when it is asked for something else, a tool fails, or nothing declares what is called', () => {
    assert.match(decide(said('fix the test')).text ?? '', /can do nothing else/)
    assert.is(decide(task, ...called('list_files', {}, 'no such folder', true)).text, 'no such folder')
    const search = called('search_files', { pattern: 'function depotCost' }, 'no match')
    assert.match(decide(task, ...reading, ...search).text ?? '', /find nowhere what depotCost takes/)
    const failed = called('run_command', {}, 'wrong: src/depot/cost.js', true)
    assert.match(decide(task, ...reading, ...failed).text ?? '', /The check failed: wrong/)
  })
})

describe('the sizes of requests', (it) => {
  it('know which names the request has, which only the index, and which nothing', () => {
    const meter = new RequestMeter()
    const turn = (shown: readonly string[], reply: string): void => {
      meter.see({ type: 'turn.request', request: request(said(...shown)) } as AgentEvent)
      const usage = { input: 1, output: 0, cacheRead: 0, cacheWrite: 0 }
      const message = { role: 'assistant', content: [{ type: 'text', text: reply }], usage, model: 'm' }
      meter.see({ type: 'reply.end', message } as unknown as AgentEvent)
    }
    turn(['parseUser loadOrder sendParcel'], 'parseUser')
    turn(
      ['<brake-note kind="index">\nn2 loadOrder\n</brake-note>', 'parseUser'],
      'parseUser loadOrder sendParcel newName_1',
    )
    assert.equal(meter.names, { used: 3, indexOnly: 1, lost: 1 })
  })

  it('are drawn as bars, the highest of several for each', () => {
    assert.is(sparkline([0, 1, 2, 3, 4, 5, 6, 7, 8], 1, 8), '▁▂▃▄▅▆▇██')
    assert.is(sparkline([8, 0, 1, 4, 2], 2, 8), '█▅▃')
  })
})
