import { z } from 'zod'
import { createRuntime, defineAgent, memoryStore } from '../../src/index.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import type { ToolContext } from '../../src/actors/tools/defineTool.ts'
import type { Conversation } from '../../src/conversation/tree/conversation.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import { calls, gate, resultsOf, startAgent, tool, withCode } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'
import { recordsOf, runtimeOver, settled } from './cutLogs.ts'

const Plan = z.object({ title: z.string(), steps: z.array(z.object({ text: z.string(), done: z.boolean() })) })
const state = { schema: Plan, initial: { title: '', steps: [] } }

const add = tool('add', (input, context) => {
  const plan = context.state.of(Plan).update((draft) => {
    draft.steps.push({ text: String((input as { text?: string }).text), done: false })
  })
  return `${plan.steps.length} steps`
})
const none = { category: 'failure', summary: 'no' } as const

describe('the state of an agent', (it) => {
  it('is changed by tools and people, is in the log, and is told of', async (context) => {
    const { agent, records, script, ofType } = await startAgent(context, {
      state,
      tools: [add],
      replies: [calls('c', ['add', { text: 'one' }], ['add', { text: 'two' }]), 'done'],
    })
    assert.equal(agent.appState, { title: '', steps: [] })
    assert.equal([agent.stateVersion, (await records()).length], [0, 1])
    await agent.prompt('go').result
    assert.equal(resultsOf(script.requests[1]).toSorted(), ['1 steps', '2 steps'])
    assert.equal(agent.appState, {
      title: '',
      steps: [
        { text: 'one', done: false },
        { text: 'two', done: false },
      ],
    })
    const after = await agent.updateState((plan) => {
      const { steps } = plan as z.output<typeof Plan>
      steps[0]!.done = true
    })
    assert.equal(after, agent.appState)
    const changes = (await records()).filter(({ type }) => type === 'state.patched')
    assert.equal(
      changes.map((record) => record.type === 'state.patched' && [record.by, record.callId, record.n, record.patch]),
      [
        ['tool', 'c0', 1, [{ op: 'add', path: '/steps/0', value: { text: 'one', done: false } }]],
        ['tool', 'c1', 1, [{ op: 'add', path: '/steps/1', value: { text: 'two', done: false } }]],
        ['person', undefined, undefined, [{ op: 'replace', path: '/steps/0/done', value: true }]],
      ],
    )
    assert.equal(
      changes.map((record) => 'initial' in record),
      [true, false, false],
    )
    assert.equal(
      ofType('state.patched').map(({ seq }) => seq),
      changes.map(({ seq }) => seq),
    )
    assert.is(agent.stateVersion, changes.at(-1)!.seq)
    assert.not.match(JSON.stringify(script.requests), /"steps"/)
  })

  it('refuses what does not fit, loses nothing by it, and says why', async (context) => {
    const refused: unknown[] = []
    const tries = (...tried: readonly ((context: ToolContext) => unknown)[]) =>
      tool('try', (_, call) => {
        for (const attempt of tried) {
          try {
            attempt(call)
          } catch (thrown) {
            refused.push(thrown)
          }
        }
      })
    const { agent } = await startAgent(context, {
      state,
      tools: [
        tries(
          (call) => call.state.set({ title: 1 }),
          (call) => call.state.of(Plan).update((async () => {}) as never),
          (call) =>
            call.state.of(Plan).update((draft) => {
              draft.title = 'x'.repeat(70_000)
            }),
          (call) => call.state.set({ title: '', steps: [], deep: 1n }),
          (call) => {
            ;(call.state.get() as { title: string }).title = 'mine'
          },
        ),
      ],
      replies: [calls('c', 'try'), 'done'],
    })
    await agent.prompt('go').result
    const [type, promise, size, json, frozen] = refused
    assert.ok(withCode('STATE_INVALID', 'title: give a string')(type), String(type))
    assert.ok(withCode('STATE_INVALID', 'returned a promise')(promise))
    assert.ok(withCode('STATE_INVALID', 'The change is too large: the patch has')(size), String(size))
    assert.ok(withCode('STATE_INVALID', '/deep is a bigint')(json), String(json))
    assert.instance(frozen, TypeError)
    assert.is(refused.length, 5)
    assert.equal([agent.appState, agent.stateVersion], [state.initial, 0])
    await assert.rejects(
      agent.updateState(() => ({})),
      withCode('STATE_INVALID', 'title'),
    )
  })

  it('is not there without the option', async (context) => {
    const seen: unknown[] = []
    const { agent, records } = await startAgent(context, {
      tools: [
        tool('try', (_, call) => {
          try {
            call.state.get()
          } catch (thrown) {
            seen.push(thrown)
          }
        }),
      ],
      replies: [calls('c', 'try'), 'done'],
    })
    await agent.prompt('go').result
    assert.ok(withCode('STATE_OFF', 'Agent "a1" has no state')(seen[0]))
    await assert.rejects(
      agent.updateState(() => {}),
      withCode('STATE_OFF'),
    )
    assert.throws(
      () => agent.dispatch({ type: 'agent.state', agentId: 'a1', patch: [{ op: 'remove', path: '/a' }] }),
      withCode('STATE_OFF'),
    )
    assert.is(agent.appState, undefined)
    assert.not.ok((await records()).some(({ type }) => type === 'state.patched'))
  })

  it('goes back with a revert, except for what people changed, and comes again with a graft', async (context) => {
    const { agent, ofType, until, store } = await startAgent(context, {
      state,
      tools: [add],
      replies: [calls('c', ['add', { text: 'one' }]), 'first', calls('d', ['add', { text: 'two' }]), 'second'],
    })
    await agent.prompt('go').result
    const before = agent.appState
    await agent.prompt('more').result
    await agent.updateState((draft) => {
      const plan = draft as z.output<typeof Plan>
      plan.title = 'mine'
      plan.steps[1]!.done = true
    })
    const whole = agent.appState
    agent.revert('n5', none)
    await until(({ type }) => type === 'revert.applied')
    const reverted = ofType('revert.applied')[0]!
    assert.is(reverted.reason, undefined)
    assert.equal(agent.appState, { ...(before as object), title: 'mine' })
    assert.is(agent.stateVersion, reverted.seq)
    assert.equal(reverted.state?.kept, 1)
    assert.equal(
      reverted.state?.lost.map(({ by, patch }) => [by, patch]),
      [['person', [{ op: 'replace', path: '/steps/1/done', value: true }]]],
    )
    const { state: tree } = agent.conversation as Conversation
    assert.equal(tree!.at(8), whole, 'the abandoned branch has what it had')
    agent.graft('n6')
    await until(({ type }) => type === 'graft.applied')
    const grafted = ofType('graft.applied')[0]!
    assert.equal(agent.appState, {
      title: 'mine',
      steps: [
        { text: 'one', done: false },
        { text: 'two', done: false },
      ],
    })
    assert.equal(grafted.state?.patch, [{ op: 'add', path: '/steps/1', value: { text: 'two', done: false } }])
    const rebuilt = rebuildConversation(await recordsOf(store, 'a1'))
    assert.equal(rebuilt.state!.keep(), tree!.keep())
  })

  it('leaves out what people changed when the schema does not allow it there', async (context) => {
    const limited = {
      schema: Plan.refine(({ steps, title }) => title === '' || steps.length > 0),
      initial: state.initial,
    }
    const { agent, ofType, until } = await startAgent(context, {
      state: limited,
      tools: [add],
      replies: ['hello', calls('c', ['add', { text: 'one' }]), 'done'],
    })
    await agent.prompt('hi').result
    await agent.prompt('go').result
    await agent.updateState((plan) => {
      ;(plan as z.output<typeof Plan>).title = 'named'
    })
    agent.revert('n3', none)
    await until(({ type }) => type === 'revert.applied')
    const { state: moved } = ofType('revert.applied')[0]!
    assert.equal([moved!.kept, moved!.lost.length], [0, 1])
    assert.equal(agent.appState, state.initial)
  })

  it('has an update that a crash followed once, and returns what it returned', async (context) => {
    const open = gate()
    const seen: unknown[] = []
    let runs = 0
    const twice = tool(
      'twice',
      async (_, call) => {
        runs += 1
        const plan = call.state.of(Plan)
        plan.update((draft) => {
          if (draft.title === 'a') draft.title = 'z'
        })
        const first = plan.update((draft) => {
          draft.title += 'a'
        })
        seen.push(first.title)
        if (runs === 1) await open.promise
        seen.push(
          plan.update((draft) => {
            draft.title += 'b'
          }).title,
        )
        return 'ok'
      },
      { effects: 'idempotent' },
    )
    const define = (replies: Parameters<typeof scriptedModel>[0]) =>
      defineAgent({ name: 'tester', model: scriptedModel(replies), tools: [twice], state })
    const store = memoryStore()
    const runtime = await createRuntime({ store })
    context.cleanup(() => runtime.close())
    const agent = await runtime.spawn(define([calls('c', 'twice')]), { id: 'a1' })
    agent.prompt('go')
    for await (const event of agent.events()) if (event.type === 'state.patched') break
    await agent.durable()
    const log = await recordsOf(store, 'a1')
    const { runtime: next } = await runtimeOver(context, { a1: log })
    const resumed = await next.resume('a1', define(['done']))
    await settled(resumed)
    assert.equal([runs, seen], [2, ['a', 'a', 'ab']])
    assert.equal(resumed.appState, { title: 'ab', steps: [] })
    open.resolve()
  })

  it('takes no change of a call that is over', async (context) => {
    const late = gate<ToolContext>()
    const { agent } = await startAgent(context, {
      state,
      tools: [
        tool('keep', (_, call) => {
          late.resolve(call)
        }),
      ],
      replies: [calls('c', 'keep'), 'done'],
    })
    await agent.prompt('go').result
    const { state: door } = await late.promise
    assert.throws(() => door.set(state.initial), withCode('STATE_INVALID', 'The call is over'))
    assert.equal(door.get(), state.initial)
  })

  it('refuses a patch that was made for a state of before, if it touches what has changed since', async (context) => {
    const { agent } = await startAgent(context, { state, replies: [] })
    await agent.updateState((plan) => ({ ...(plan as object), title: 'one' }))
    const base = agent.stateVersion
    await agent.updateState((plan) => ({ ...(plan as object), title: 'two' }))
    const title = (value: string, from?: number) =>
      agent.dispatch({
        type: 'agent.state',
        agentId: 'a1',
        patch: [{ op: 'replace', path: '/title', value }],
        ...(from === undefined ? {} : { base: from }),
      })
    assert.throws(() => title('three', base), withCode('STATE_CONFLICT', '"/title" in the state has changed since'))
    await agent.updateState((plan) => ({ ...(plan as object), steps: [{ text: 'a', done: true }] }), { base })
    title('three')
    assert.equal(agent.appState, { title: 'three', steps: [{ text: 'a', done: true }] })
    assert.throws(
      () => agent.dispatch({ type: 'agent.state', agentId: 'a1', patch: [{ op: 'remove', path: '/gone' }] }),
      withCode('STATE_INVALID', 'there is no "/gone"'),
    )
  })

  it('is changed from inside a listener once the step is over', async (context) => {
    const { agent, ofType } = await startAgent(context, { state, replies: ['hello'] })
    const updates: Promise<unknown>[] = []
    agent.subscribe(({ type }) => {
      if (type !== 'run.end') return
      assert.throws(
        () =>
          agent.dispatch({
            type: 'agent.state',
            agentId: 'a1',
            patch: [{ op: 'replace', path: '/title', value: 'x' }],
          }),
        withCode('STATE_INVALID', 'inside a listener'),
      )
      for (const text of ['a', 'b'])
        updates.push(
          agent.updateState((draft) => {
            ;(draft as z.output<typeof Plan>).steps.push({ text, done: false })
          }),
        )
    })
    await agent.prompt('hi').result
    await Promise.all(updates)
    assert.is(updates.length, 2)
    assert.equal(ofType('state.patched').length, 2)
    assert.equal(
      (agent.appState as z.output<typeof Plan>).steps.map(({ text }) => text),
      ['a', 'b'],
    )
  })
})
