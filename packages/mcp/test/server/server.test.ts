import { z } from 'zod'
import { defineAgent } from '../../../define/src/defineAgent.ts'
import type { AgentOptions } from '../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { defineTool } from '../../../../src/actors/tools/defineTool.ts'
import { textOf } from '../../../../src/protocol/messages.ts'
import { lastingStore } from '../../../bridge/test/server/bridgeHarness.ts'
import { tool } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { call, openHost, ways } from './mcpHarness.ts'

/** Says how many tasks it was given, and the last of them. */
const counter = defineAgent({
  name: 'counter',
  description: 'Counts its tasks.',
  model: policyModel(({ messages }) => {
    const tasks = messages.filter(({ role }) => role === 'user')
    return `${tasks.length}: ${textOf(tasks.at(-1)!.content)}`
  }),
})

const rater = defineAgent({
  name: 'rater',
  model: policyModel(() => '{"stars":4}'),
  input: z.object({ film: z.string() }),
  output: z.object({ stars: z.number() }),
})

/** Answers with a call; its value is the answer as data for an agent that has a schema. */
const filer = (name: string, options: Pick<AgentOptions, 'output'> = {}) =>
  defineAgent({
    name,
    model: policyModel(() => ({ toolCalls: [{ name: 'file', input: {} }] })),
    tools: [
      defineTool({
        name: 'file',
        description: 'Files.',
        input: z.object({}),
        output: z.object({ id: z.string() }),
        endsRun: true,
        run: (_, { give }) => {
          give('only for the application', 'note')
          return { id: 'x7' }
        },
        toModel: () => 'Filed.',
      }),
    ],
    ...options,
  })

describe('an MCP server of agents', (it) => {
  it('answers with the text of a call that ends the run, and with its value where the agent answers with data', async (context) => {
    const { connect } = await openHost(context, [
      filer('plain'),
      filer('typed', { output: z.object({ id: z.string() }) }),
    ])
    const client = await connect('HTTP, modern')
    const plain = await call(client, 'plain', { task: 'file it' })
    assert.equal([plain.text, plain.stopReason, plain.isError], ['Filed.', 'stop', false])
    assert.equal(Object.keys(plain.data), ['session', 'stopReason', 'text'])
    const typed = await call(client, 'typed', { task: 'file it' })
    assert.equal([typed.text, typed.data['output']], ['Filed.', { id: 'x7' }])
    assert.not.match(JSON.stringify([plain, typed]), 'only for the application')
  })

  for (const way of ways) {
    it(`offers a tool for each definition (${way})`, async (context) => {
      const { connect } = await openHost(context, [counter, rater])
      const client = await connect(way)
      const { tools } = await client.listTools()
      assert.equal(
        tools.map(({ name, description }) => [name, description]),
        [
          ['counter', 'Counts its tasks.'],
          ['rater', 'Gives a task to the agent "rater" and returns its answer.'],
        ],
      )
      assert.equal(Object.keys(tools[1]!.inputSchema.properties!), ['task', 'session', 'film'])
    })

    it(`answers with the session, which goes on with the same agent (${way})`, async (context) => {
      const { connect } = await openHost(context, [counter])
      const client = await connect(way)
      const first = await call(client, 'counter', { task: 'one' })
      assert.is(first.text, '1: one')
      assert.is(first.stopReason, 'stop')
      assert.not.ok(first.isError)
      const second = await call(client, 'counter', { task: 'two', session: first.session })
      assert.is(second.text, '2: two')
      assert.is(second.session, first.session)
      const other = await call(client, 'counter', { task: 'three' })
      assert.is(other.text, '1: three')
      assert.is.not(other.session, first.session)
    })

    it(`answers two sessions at once, each its own (${way})`, async (context) => {
      const { connect } = await openHost(context, [counter])
      const client = await connect(way)
      const [one, two] = await Promise.all([
        call(client, 'counter', { task: 'a' }),
        call(client, 'counter', { task: 'b' }),
      ])
      assert.equal([one.text, two.text], ['1: a', '1: b'])
      assert.is.not(one.session, two.session)
    })

    it(`gives the input of the definition to the agent, and its output as data (${way})`, async (context) => {
      const { connect, runtime } = await openHost(context, [rater])
      const client = await connect(way)
      const { data, session } = await call(client, 'rater', { task: 'Rate it.', film: 'Stalker' })
      assert.equal(data['output'], { stars: 4 })
      const [first] = runtime.agent(session)!.conversation.trunk()
      assert.is(textOf(first!.message.content), 'Rate it.\n\n{\n  "film": "Stalker"\n}')
    })

    it(`answers wrong arguments with what is wrong (${way})`, async (context) => {
      const { connect, runtime } = await openHost(context, [rater])
      const client = await connect(way)
      for (const [input, says] of [
        [{}, /task: .*film: /],
        [{ task: '  ', film: 'x' }, /say what is to be done/],
        [{ task: 'x', film: 'x', session: 7 }, /session: /],
        [{ session: 'nobody' }, /There is no agent "nobody" here\..*\(AGENT_NOT_FOUND\)/s],
        [{ task: 'x', film: 'x', session: '../../etc' }, /\(INVALID_ID\)|\(AGENT_NOT_FOUND\)/],
      ] as const) {
        const { isError, text } = await call(client, 'rater', input)
        assert.ok(isError)
        assert.match(text, says)
      }
      assert.equal(runtime.agents(), [])
    })

    it(`has no tool that is not an agent's (${way})`, async (context) => {
      const { connect } = await openHost(context, [counter])
      const client = await connect(way)
      const refused = await client.callTool({ name: 'nothing', arguments: {} }).catch((thrown: unknown) => thrown)
      assert.match((refused as Error).message, /There is no tool "nothing" \(there are: counter\)/)
    })
  }

  it('keeps the session of one tool from another, and sub-agents from all', async (context) => {
    const { connect, runtime } = await openHost(context, [counter, rater])
    const client = await connect('HTTP, modern')
    const { session } = await call(client, 'counter', { task: 'x' })
    const wrong = await call(client, 'rater', { session })
    assert.match(wrong.text, /is an agent of "counter", and this is for those of "rater"\..*\(INVALID_OPTION\)/)
    const child = await runtime.agent(session)!.spawn(counter)
    const below = await call(client, 'counter', { session: child.id })
    assert.match(below.text, /is a sub-agent: a session is a root agent/)
  })

  it('goes on with a session after a restart, and tells its last answer', async (context) => {
    const store = lastingStore()
    const before = await openHost(context, [counter], { store })
    const { session } = await call(await before.connect('HTTP, legacy'), 'counter', { task: 'one' })
    await before.runtime.close()
    const after = await openHost(context, [counter], { store })
    const client = await after.connect('HTTP, legacy')
    const looked = await call(client, 'counter', { session })
    assert.is(looked.text, '1: one')
    assert.is(looked.stopReason, 'stop')
    assert.is((await call(client, 'counter', { session, task: 'two' })).text, '2: two')
  })

  it('says that an agent is paused, and continues it by its session alone', async (context) => {
    const lazy = defineAgent({
      name: 'lazy',
      limits: { turns: 1 },
      tools: [tool('look', () => 'seen')],
      model: policyModel(({ messages }) =>
        messages.at(-1)!.role === 'user' ? { toolCalls: [{ name: 'look', input: {} }] } : 'found',
      ),
    })
    const { connect } = await openHost(context, [lazy])
    const client = await connect('HTTP, modern')
    const paused = await call(client, 'lazy', { task: 'x' })
    assert.is(paused.stopReason, 'paused')
    assert.ok(paused.isError)
    assert.match(paused.text, /its limit of turns was reached\. Call again with the session/)
    const done = await call(client, 'lazy', { session: paused.session })
    assert.equal([done.text, done.stopReason], ['found', 'stop'])
  })

  it('answers a run that fails with its error', async (context) => {
    const broken = defineAgent({
      name: 'broken',
      retry: { attempts: 1 },
      model: policyModel(() => {
        throw new Error('no such luck')
      }),
    })
    const { connect } = await openHost(context, [broken])
    const { isError, text, stopReason, session } = await call(await connect('stdio, legacy'), 'broken', { task: 'x' })
    assert.equal([isError, stopReason], [true, 'error'])
    assert.match(text, 'no such luck')
    assert.match(session, /^broken-/)
  })

  it('tells what happens as progress: the session, calls, and those of sub-agents', async (context) => {
    const scout = defineAgent({
      name: 'scout',
      tools: [tool('look', () => 'seen')],
      model: policyModel(({ messages }) =>
        messages.at(-1)!.role === 'user' ? { toolCalls: [{ name: 'look', input: {} }] } : 'all clear',
      ),
    })
    const lead = defineAgent({
      name: 'lead',
      agents: [scout],
      model: policyModel(({ messages }) =>
        messages.at(-1)!.role === 'user' ? { toolCalls: [{ name: 'scout', input: { task: 'north' } }] } : 'good',
      ),
    })
    for (const way of ways) {
      const { connect } = await openHost(context, [lead])
      const client = await connect(way)
      const heard: [number, string | undefined][] = []
      const onprogress = ({ progress, message }: { progress: number; message?: string | undefined }): void =>
        void heard.push([progress, message])
      const { session } = await call(client, 'lead', { task: 'go' }, { onprogress })
      // The newest is kept while one is on its way, so that not all are certain to be heard.
      assert.equal(heard[0], [1, `session: ${session}`], way)
      assert.equal(
        heard.map(([progress]) => progress),
        heard.map((_, index) => index + 1),
      )
    }
  })
})
