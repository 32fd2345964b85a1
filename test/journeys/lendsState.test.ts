import { z } from 'zod'
import { defineAgent } from '../../src/index.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import type { SubAgentOptions } from '../../src/actors/define/subAgents.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import { calls, startAgent, tool, withCode } from '../support/agentHarness.ts'
import { nextTurn } from '../support/runCase.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

const schema = z.object({ title: z.string(), secret: z.number() })

/** A boss with state whose sub-agent changes it, as far as it may. */
async function lending(context: CaseContext, state?: SubAgentOptions['state']) {
  const seen: unknown[] = []
  const change = tool('change', (_, call) => {
    try {
      seen.push(call.state.get())
      seen.push(
        call.state.of(schema).update((draft) => {
          draft.title += '!'
        }),
      )
    } catch (thrown) {
      seen.push(thrown)
    }
    return 'ok'
  })
  const helper = defineAgent({
    name: 'helper',
    description: 'helps',
    model: scriptedModel([calls('h', 'change'), 'helped']),
    tools: [change],
  })
  const harness = await startAgent(context, {
    state: { schema, initial: { title: 'mine', secret: 7 } },
    agents: [state === undefined ? helper : { definition: helper, state }],
    replies: [calls('c', ['helper', { task: 'change it' }]), 'done'],
  })
  await harness.agent.prompt('go').result
  return { ...harness, seen, helper }
}

describe('the state of a caller', (it) => {
  it('is changed by a sub-agent that may, in the log of the caller', async (context) => {
    const { agent, seen, ofType } = await lending(context, 'write')
    assert.equal(seen, [
      { title: 'mine', secret: 7 },
      { title: 'mine!', secret: 7 },
    ])
    assert.equal(agent.appState, seen[1])
    const [changed] = ofType('state.patched')
    assert.equal([changed!.agentId, changed!.by, changed!.n], ['a1', 'child', 1])
    assert.is(changed!.callId, `${changed!.childId}/h0`)
  })
  it('is read by one that may only read, as a whole or in part', async (context) => {
    const read = await lending(context, 'read')
    assert.equal(read.seen[0], { title: 'mine', secret: 7 })
    assert.ok(withCode('STATE_INVALID', 'may read the state of its caller, and not change it')(read.seen[1]))
    assert.equal(read.agent.appState, { title: 'mine', secret: 7 })
  })
  it('shows the named fields and no others', async (context) => {
    const { seen } = await lending(context, { read: ['title', 'gone'] })
    assert.equal(seen[0], { title: 'mine' })
    assert.ok(withCode('STATE_INVALID')(seen[1]))
  })
  it('is not there for others', async (context) => {
    const { seen } = await lending(context)
    assert.ok(withCode('STATE_OFF')(seen[0]))
  })
  it('is given neither to those that outlive it nor to those with state of their own', () => {
    const model = scriptedModel([])
    const helper = defineAgent({ name: 'helper', description: 'helps', model })
    const own = defineAgent({ name: 'own', description: 'has', model, state: { schema: z.string(), initial: '' } })
    const boss = (entry: SubAgentOptions) => () => defineAgent({ name: 'boss', model, agents: [entry] })
    assert.throws(
      boss({ definition: helper, state: 'read', detach: true }),
      withCode('INVALID_DEFINITION', 'is detached'),
    )
    assert.throws(boss({ definition: own, state: 'write' }), withCode('INVALID_DEFINITION', 'has state of its own'))
  })
})

describe('a copy of the state of a caller', (it) => {
  const note = tool('note', (_, { state }) => {
    state.of(schema).update((draft) => void (draft.title += '?'))
    return 'noted'
  })
  const worker = (more: { readonly initial?: z.output<typeof schema>; readonly schema?: z.ZodType } = {}) =>
    defineAgent({
      name: 'worker',
      description: 'works',
      model: scriptedModel([calls('w', 'note'), 'worked']),
      tools: [note],
      state: { schema, initial: { title: 'own', secret: 0 }, ...more } as {
        schema: typeof schema
        initial: z.output<typeof schema>
      },
    })

  for (const detach of [false, 'report'] as const)
    it(`is that of the sub-agent from then on (detach: ${detach})`, async (context) => {
      const { agent, runtime, store } = await startAgent(context, {
        state: { schema, initial: { title: 'mine', secret: 7 } },
        agents: [{ definition: worker(), detach, state: 'copy' }],
        replies: [calls('c', ['worker', { task: 'go' }]), 'done', 'heard'],
      })
      await agent.updateState((draft) => ({ ...(draft as z.output<typeof schema>), title: 'plan' }))
      await agent.prompt('go').result
      const [childId] = (await store.list()).filter((id) => id !== agent.id)
      const records: LogRecord[] = []
      // It goes on by itself: its log is whole once its run has ended.
      while (!records.some(({ type }) => type === 'run.end')) {
        await runtime.agent(childId!)?.durable()
        records.length = 0
        for await (const record of store.read(childId!)) records.push(record)
        await nextTurn()
      }
      const changes = records.flatMap((record) => (record.type === 'state.patched' ? [record] : []))
      assert.equal(
        changes.map(({ by, patch }) => [by, patch.map((op) => ('value' in op ? op.value : op.op))]),
        [
          ['code', ['plan', 7]],
          ['tool', ['plan?']],
        ],
      )
      assert.ok(
        records.findIndex(({ type }) => type === 'state.patched') <
          records.findIndex(({ type }) => type === 'run.start'),
      )
      assert.equal(agent.appState, { title: 'plan', secret: 7 })
    })

  it('that does not fit starts nothing, and the model reads why', async (context) => {
    const other = worker({
      schema: z.object({ title: z.string(), secret: z.string() }),
      initial: { title: '', secret: '' } as never,
    })
    for (const detach of [false, 'report'] as const) {
      const { agent, store, script } = await startAgent(context, {
        state: { schema, initial: { title: 'mine', secret: 7 } },
        agents: [{ definition: other, detach, state: 'copy' }],
        replies: [calls('c', ['worker', { task: 'go' }]), 'done', 'heard'],
      })
      await agent.prompt('go').result
      assert.match(JSON.stringify(script.requests.at(-1)), /Not started.*does not fit.*secret/)
      assert.equal(await store.list(), [agent.id])
    }
  })

  it('needs a caller that has any, and a sub-agent that can keep it', async (context) => {
    const { agent, script } = await startAgent(context, {
      agents: [{ definition: worker(), state: 'copy' }],
      replies: [calls('c', ['worker', { task: 'go' }]), 'done'],
    })
    await agent.prompt('go').result
    assert.match(JSON.stringify(script.requests.at(-1)), /Not started.*there is none/)
    const helper = defineAgent({ name: 'helper', description: 'helps', model: scriptedModel([]) })
    const boss = (entry: SubAgentOptions) => () =>
      defineAgent({ name: 'boss', model: scriptedModel([]), agents: [entry] })
    assert.throws(
      boss({ definition: helper, state: 'copy' }),
      withCode('INVALID_DEFINITION', 'no state to keep a copy in'),
    )
    assert.throws(
      boss({ definition: worker(), state: 'copy', continuable: true }),
      withCode('INVALID_DEFINITION', 'it is continuable'),
    )
  })
})

describe('the state of a conversation that is handed over', (it) => {
  const read = tool('read', (_, { state }) => JSON.stringify(state.get()))
  const next = (state?: { readonly schema: z.ZodType; readonly initial: unknown }) =>
    defineAgent({
      name: 'next',
      description: 'Goes on.',
      model: scriptedModel([calls('n', 'read'), 'mine now']),
      tools: [read],
      ...(state === undefined ? {} : { state: state as never }),
    })
  const initial = { title: 'mine', secret: 7 }
  const handing = async (context: CaseContext, to: ReturnType<typeof next>, state?: object) => {
    const harness = await startAgent(context, {
      ...(state === undefined ? {} : { state: state as never }),
      handoffs: [to],
      replies: [calls('h', 'transfer_to_next'), 'still mine'],
    })
    const { text } = await harness.agent.prompt('go').result
    return { ...harness, text }
  }

  it('goes along: with the same schema, to one without any, and where it fits', async (context) => {
    const looser = z.object({ title: z.string() })
    for (const to of [
      next(),
      next({ schema, initial: { title: 'x', secret: 0 } }),
      next({ schema: looser, initial: { title: 'x' } }),
    ]) {
      const { agent, text } = await handing(context, to, { schema, initial })
      assert.is(text, 'mine now')
      assert.is(agent.active, 'next')
      assert.equal(agent.appState, initial)
    }
  })

  it('that does not fit the next one keeps the conversation where it is, and the model reads why', async (context) => {
    const stricter = z.object({ title: z.string(), secret: z.string() })
    const { agent, script, text } = await handing(
      context,
      next({ schema: stricter, initial: { title: '', secret: '' } }),
      { schema, initial },
    )
    assert.is(text, 'still mine')
    assert.is(agent.active, agent.definition)
    assert.equal(agent.appState, initial)
    assert.match(
      JSON.stringify(script.requests.at(-1)),
      /Not handed over: the state of this conversation does not fit.*secret/,
    )
  })

  it('is missed by one that has state, where the first has none', async (context) => {
    const { agent, script } = await handing(context, next({ schema, initial }))
    assert.is(agent.active, agent.definition)
    assert.match(JSON.stringify(script.requests.at(-1)), /this conversation has none/)
  })
})
