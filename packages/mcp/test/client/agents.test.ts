import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { z } from 'zod'
import { mcpTools } from '../../../../src/mcp.ts'
import {
  createRuntime,
  defineAgent,
  defineTool,
  fileStore,
  type Agent,
  type AgentEvent,
  type LogRecord,
} from '../../../../src/index.ts'
import type { McpOptions } from '../../src/client/options.ts'
import { scriptedModel, type ScriptedReply } from '../../../evaluation/src/testing/scriptedModel.ts'
import { calls, resultsOf } from '../../../../test/support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { isAlive } from '../../../../test/support/livingProcess.ts'
import { linesOf, raw, tempFolder, until } from './opened.ts'
import { jobAgent } from './servers/agentChild.ts'

const timeoutMs = 30_000
const tool = (name: string, more: object = {}): object => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object' },
  ...more,
})

interface Started {
  readonly agent: Agent
  readonly events: readonly AgentEvent[]
  readonly requests: ReturnType<typeof scriptedModel>['requests']
  readonly close: () => Promise<void>
}

async function start({ cleanup }: CaseContext, options: McpOptions, ...replies: ScriptedReply[]): Promise<Started> {
  const runtime = await createRuntime()
  cleanup(() => runtime.close())
  const model = scriptedModel(replies)
  const agent = await runtime.spawn(defineAgent({ name: 'clerk', model, tools: [mcpTools(options)] }))
  const events: AgentEvent[] = []
  agent.subscribe((event) => void events.push(event))
  return { agent, events, requests: model.requests, close: () => runtime.close() }
}

const namesOf = (request: { readonly tools: readonly { readonly name: string }[] }): string[] =>
  request.tools.map(({ name }) => name)

describe('an agent with a server', (it) => {
  it(
    'calls its tools, takes new ones in the next turn, and records what it was offered',
    { timeoutMs },
    async (context) => {
      const options = {
        ...raw({ later: [tool('fresh'), tool('change')], listMs: 50 }),
        include: [/^(change|fresh|echo)$/],
        approve: 'none',
      } as const
      const { agent, events, requests } = await start(
        context,
        options,
        calls('a', 'change'),
        calls('b', 'fresh'),
        'done',
      )
      assert.equal((await agent.prompt('go').result).stopReason, 'stop')
      assert.equal(requests.map(namesOf), [
        ['echo', 'change'],
        ['change', 'fresh'],
        ['change', 'fresh'],
      ])
      assert.equal(resultsOf(requests[2]), ['changed', 'called fresh with {}'])
      const changes = events.flatMap((event) => (event.type === 'tools.changed' ? [event] : []))
      assert.equal(
        changes.map(({ added, removed }) => [
          added.map(({ name, source, effects }) => `${source} ${name} ${effects}`),
          removed,
        ]),
        [
          [['raw echo irreversible', 'raw change irreversible'], []],
          [['raw fresh irreversible'], ['echo']],
        ],
      )
    },
  )

  it('asks people about each call of a server that nobody vouched for', { timeoutMs }, async (context) => {
    const { agent, events } = await start(context, raw(), calls('a', ['echo', { text: 'x' }]), 'done')
    const run = agent.prompt('go')
    await until(() => events.some(({ type }) => type === 'approval.requested'), context.signal)
    agent.decide(agent.pending()[0]!.key, 'deny', 'not today')
    await run.result
    const end = events.find((event) => event.type === 'tool.end')
    assert.match(JSON.stringify(end), /not today/)
  })

  it(
    'asks only about writes where that is wanted, by what the server says of its tools',
    { timeoutMs },
    async (context) => {
      const options = { ...raw(), approve: 'writes' } as const
      const { agent, events } = await start(context, options, calls('a', ['echo', { text: 'x' }], 'pid'), 'done')
      const run = agent.prompt('go')
      await until(() => events.some(({ type }) => type === 'approval.requested'), context.signal)
      assert.equal(
        agent.pending().map((one) => ('name' in one ? one.name : one)),
        ['pid'],
      )
      agent.decide(agent.pending()[0]!.key, 'approve')
      assert.equal((await run.result).stopReason, 'stop')
    },
  )

  it(
    'is found by words where the server has five hundred, and asked about as itself',
    { timeoutMs },
    async (context) => {
      const many = Array.from({ length: 500 }, (_, n) =>
        tool(`tool_${n}`, {
          description: n === 77 ? 'Sends a postcard to a friend.' : `Does number ${n}.`,
          inputSchema: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
          annotations: { readOnlyHint: n !== 77 },
        }),
      )
      const options = {
        ...raw({ pages: [many.slice(0, 250), many.slice(250)] }),
        approve: 'writes',
        trust: true,
      } as const
      const through = (name: string, input: object) => ['call_tool', { name, input }] as const
      const { agent, events, requests } = await start(
        context,
        options,
        calls('a', ['find_tools', { query: 'postcards? friend' }]),
        calls('b', through('tool_1', { to: 'Bob' }), through('tool_77', { to: 'Ada' }), through('tool_77', { to: 1 })),
        calls('c', through('tool_500', {})),
        'done',
      )
      const run = agent.prompt('go')
      await until(() => events.some(({ type }) => type === 'approval.requested'), context.signal)
      assert.equal(
        agent.pending().map((one) => ('name' in one ? [one.name, one.input] : one)),
        [['tool_77', { to: 'Ada' }]],
      )
      agent.decide(agent.pending()[0]!.key, 'approve')
      await run.result
      assert.equal(
        requests[0]!.tools.map(({ name }) => name),
        ['find_tools', 'call_tool'],
      )
      const [found, read, sent, wrong, none] = resultsOf(requests.at(-1))
      assert.match(found!, /Sends a postcard to a friend\. \*\/\ntool_77\(input: \{ to: string \}\)$/)
      assert.equal([read, sent], ['called tool_1 with {"to":"Bob"}', 'called tool_77 with {"to":"Ada"}'])
      assert.match(wrong!, /tool_77\(input: \{ to: string \}\)\n\nInvalid arguments: to: /)
      assert.match(none!, /^There is no tool "tool_500"\. The nearest: tool_50/)
      const effects = events.flatMap((event) => (event.type === 'tool.start' ? [[event.name, event.irreversible]] : []))
      assert.equal(effects, [
        ['find_tools', undefined],
        ['tool_1', undefined],
        ['tool_77', true],
        ['tool_77', true],
        ['call_tool', undefined],
      ])
    },
  )

  it(
    'is not run if it joined the list after its call was planned, and asked about then',
    { timeoutMs },
    async (context) => {
      const some = ['change', 'echo', 'pid'].map((name) =>
        tool(name, { annotations: { readOnlyHint: name !== 'pid' } }),
      )
      const options = {
        ...raw({ pages: [some], later: [...some, tool('fresh')] }),
        approve: 'writes',
        maxTools: 2,
      } as const
      const call = (name: string) => ['call_tool', { name, input: {} }] as const
      const runtime = await createRuntime()
      context.cleanup(() => runtime.close())
      const model = scriptedModel([
        calls('a', call('change'), call('echo'), call('echo'), call('fresh')),
        calls('b', call('fresh')),
        'done',
      ])
      const definition = defineAgent({ name: 'clerk', model, tools: [mcpTools(options)], toolExecution: 'sequential' })
      const agent = await runtime.spawn(definition)
      const asked: unknown[] = []
      agent.subscribe((event) => {
        if (event.type !== 'approval.requested') return
        asked.push([event.name, event.input])
        agent.decide(event.key, 'deny', 'no')
      })
      await agent.prompt('go').result
      assert.match(String(resultsOf(model.requests[1]).at(-1)), /no longer as it was offered|no tool "fresh"/)
      assert.equal(asked, [['fresh', {}]])
    },
  )

  it('has its question answered by people, with the form of the server', { timeoutMs }, async (context) => {
    const options = { ...raw({ asks: 'Who are you?' }), approve: 'none' } as const
    const { agent, events, requests } = await start(context, options, calls('a', 'ask'), 'done')
    const run = agent.prompt('go')
    await until(() => events.some(({ type }) => type === 'question.asked'), context.signal)
    const [question] = agent.pending()
    assert.match(JSON.stringify(question), /The MCP server \\"raw\\" asks: Who are you\?/)
    agent.decide(question!.key, { value: { name: 'Ada' } })
    await run.result
    assert.equal(resultsOf(requests[1]), ['{"action":"accept","content":{"name":"Ada"}}'])
  })

  it(
    'goes on when the server dies in the middle of a call, with the same tools in each request',
    { timeoutMs },
    async (context) => {
      const options = { ...raw(), approve: 'none', restart: { backoffMs: 1 } } as const
      const replies = [calls('a', 'die'), calls('b', ['echo', { text: 'again' }]), 'done']
      const { agent, events, requests } = await start(context, options, ...replies)
      assert.equal((await agent.prompt('go').result).stopReason, 'stop')
      const [died, again] = resultsOf(requests[2])
      assert.match(String(died), /^The MCP server "raw" ended in the middle of the call: it exited with code 7/)
      assert.equal(again, 'again')
      assert.is(requests[0]!.tools, requests[2]!.tools)
      assert.equal(events.filter((event) => event.type === 'tools.changed' && event.added.length > 0).length, 1)
    },
  )

  it('works without a server that never comes up', { timeoutMs }, async (context) => {
    const options = { name: 'none', command: 'no-such-program-anywhere' }
    const { agent, requests } = await start(context, options, 'I have no tools.')
    assert.equal((await agent.prompt('go').result).text, 'I have no tools.')
    assert.equal(requests[0]!.tools, [])
  })

  it(
    'shares a server with its sub-agent by the same object, and ends it with the runtime',
    { timeoutMs },
    async (context) => {
      const runtime = await createRuntime()
      context.cleanup(() => runtime.close())
      const shared = mcpTools({ ...raw(), approve: 'none' })
      const own = mcpTools({ ...raw(), approve: 'none' })
      const helper = (name: string, source: typeof shared) => {
        const model = scriptedModel([calls(name, 'pid'), (request) => ({ text: String(resultsOf(request)) })])
        return defineAgent({ name, description: 'Helps.', model, tools: [source] })
      }
      const model = scriptedModel([calls('a', 'pid', ['one', { task: 'x' }], ['two', { task: 'x' }]), 'done'])
      const agent = await runtime.spawn(
        defineAgent({ name: 'boss', model, tools: [shared], agents: [helper('one', shared), helper('two', own)] }),
      )
      await agent.prompt('go').result
      const pids = resultsOf(model.requests[1]).map((text) => /\d+/.exec(text)?.[0])
      assert.equal(pids[0], pids[1])
      assert.not.equal(pids[0], pids[2])
      await runtime.close()
      for (const pid of pids) assert.not.ok(isAlive(Number(pid)))
    },
  )
})

describe('an agent whose process is killed in the middle of calls of a server', (it) => {
  it('calls again what only reads, and tells the model of what may have happened', { timeoutMs }, async (context) => {
    const folder = await tempFolder(context)
    const journal = join(folder, 'journal')
    const child = spawn(process.execPath, [join(import.meta.dirname, 'servers', 'agentChild.ts'), folder], {
      stdio: 'inherit',
    })
    const gone = new Promise((resolve) => void child.once('exit', resolve))
    context.cleanup(() => child.kill('SIGKILL'))
    await until(
      async () => (await linesOf(journal)).filter((line) => line.startsWith('call')).length === 3,
      context.signal,
    )
    child.kill('SIGKILL')
    await gone
    const before = await linesOf(journal)
    // A server whose input ends ends too, although nobody closed it.
    await until(() => !isAlive(Number(before[0]!.split(' ')[1])), context.signal)
    const runtime = await createRuntime({ store: fileStore(join(folder, 'logs')) })
    context.cleanup(() => runtime.close())
    const agent = await runtime.resume('clerk', jobAgent(folder, []))
    await until(() => agent.state === 'idle', context.signal)
    const after = (await linesOf(journal)).slice(before.length).filter((line) => line.startsWith('call'))
    assert.equal(
      after.map((line) => line.split(' ')[1]!).toSorted((a, b) => a.localeCompare(b)),
      ['add', 'look'],
    )
    // The same key: a server can know it for the same call.
    for (const line of after) assert.ok(before.includes(line))
    const results = new Map<string, string>()
    for await (const record of fileStoreRecords(join(folder, 'logs')))
      if (record.type === 'tool.end') results.set(record.message.toolName, JSON.stringify(record.message.content))
    assert.match(results.get('look')!, /called look with/)
    assert.match(results.get('add')!, /called add with/)
    assert.match(results.get('write')!, /not known|unknown|interrupted/i)
  })
})

async function* fileStoreRecords(folder: string): AsyncGenerator<LogRecord> {
  const store = fileStore(folder)
  yield* store.read('clerk')
}

describe('secrets of servers', (it) => {
  it('are in no record, event, request or line', { timeoutMs }, async (context) => {
    const secret = 'sk-very-secret-value-42'
    const lines: string[] = []
    const line = (fields: object, message: string): void => void lines.push(`${message} ${JSON.stringify(fields)}`)
    const folder = await tempFolder(context)
    const runtime = await createRuntime({
      store: fileStore(folder),
      logger: { debug: line, info: line, warn: line, error: line },
    })
    context.cleanup(() => runtime.close())
    const source = mcpTools({
      ...raw({
        start: 'garbage',
        instructions: `use ${secret}`,
        pages: [[tool('env', { description: `Knows ${secret}.` }), tool('echo')]],
      }),
      env: { API_KEY: secret, LATER: 'hunter2-hunter2' },
      instructions: true,
      approve: 'none',
    })
    const model = scriptedModel([
      calls('a', ['env', { name: 'API_KEY' }], ['env', { name: 'LATER' }], ['echo', { text: secret }]),
      `It is ${secret}.`,
    ])
    const own = defineTool({ name: 'own', description: 'Own.', input: z.object({}), run: () => secret })
    const agent = await runtime.spawn(
      defineAgent({ name: 'clerk', model, tools: [source, own], captureTurnRequests: true }),
    )
    const events: AgentEvent[] = []
    agent.subscribe((event) => void events.push(event), { deltas: true } as never)
    await agent.prompt('Print the key.').result
    assert.match(String(resultsOf(model.requests[1])), /API_KEY=\[redacted/)
    const records: LogRecord[] = []
    for await (const record of fileStore(folder).read(agent.id)) records.push(record)
    const places = { events, lines, records, requests: model.requests }
    for (const [place, all] of Object.entries(places))
      for (const value of [secret, 'hunter2-hunter2'])
        assert.not.ok(JSON.stringify(all).includes(value), `${place} ${value}`)
  })
})
