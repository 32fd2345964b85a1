// XState names the parent of an actor so.
/* oxlint-disable no-underscore-dangle */
import { assign, createActor, createMachine, sendTo, setup, toPromise, waitFor } from 'xstate'
import { z } from 'zod'
import { policyModel } from '../../models/src/policyModel.ts'
import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import type { AgentEvent, EventOf } from '../../../src/protocol/events.ts'
import { defineTool } from '../../../src/actors/tools/defineTool.ts'
import { scriptedModel } from '../../evaluation/src/testing/scriptedModel.ts'
import { agentLogic } from '../../../src/xstate.ts'
import { brittleStore } from '../../../test/support/brittleStore.ts'
import { crashingCounter } from '../../../test/support/crashingCounter.ts'
import { quiet, tool, withCode } from '../../../test/support/agentHarness.ts'
import { caller } from '../../../test/support/lives.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { actorOf, asker, begin, boss, ending, held, talker } from './logicParts.ts'

describe('agentLogic', (it) => {
  it('is a task with a prompt: done with the result, its log let go', async (context) => {
    const runtime = await begin(context)
    const events: string[] = []
    const actor = actorOf(runtime, talker, { id: 't1', prompt: 'hello' })
    actor.on('*', ({ type }) => events.push(type))
    const { text, stopReason, turns } = await ending(actor.start())
    assert.equal([text, stopReason, turns], ['answer 1', 'stop', 1])
    assert.equal(events.slice(0, 3), ['agent.created', 'run.start', 'message.added'], 'from its first record on')
    assert.is(events.filter((type) => type === 'reply.delta').length, 2)
    const { status, state, result, spent, children } = actor.getSnapshot() as never
    assert.equal([status, state, children], ['done', 'idle', undefined])
    assert.is((result as { text: string }).text, 'answer 1')
    assert.is((spent as { turns: number }).turns, 1)
    assert.is(runtime.agent('t1'), undefined)
    await (await runtime.resume('t1', talker)).close()
  })

  it('is a conversation without one: it takes commands until it is stopped', async (context) => {
    const runtime = await begin(context)
    const actor = actorOf(runtime, talker, { id: 't1' }).start()
    assert.is(actor.getSnapshot().state, 'opening')
    actor.send({ type: 'prompt', content: 'one' })
    await waitFor(actor, ({ result }) => result?.text === 'answer 1')
    actor.send({ type: 'prompt', content: 'two' })
    await waitFor(actor, ({ result, text }) => result?.text === 'answer 3' && text === 'answer 3')
    assert.is(actor.getSnapshot().status, 'active')
    const agent = runtime.agent('t1')!
    const ended = toPromise(actor)
    await agent.close()
    assert.equal(
      (({ stopReason, text }) => [stopReason, text])(await ended),
      ['aborted', 'answer 3'],
      'others may end it',
    )
  })

  it('gives its result as data, typed by the output schema of its definition', async (context) => {
    const counter = defineAgent({
      name: 'counter',
      output: z.object({ count: z.number() }),
      model: policyModel(() => '{"count":3}'),
    })
    const runtime = await begin(context)
    const actor = createActor(agentLogic(runtime, counter), { input: { prompt: 'count' } }).start()
    const { output } = await toPromise(actor)
    assert.is(output?.count, 3)
  })

  it('says what the model fails with in its result, and what its machine fails with as its error', async (context) => {
    const runtime = await begin(context)
    const lost = defineAgent({ name: 'lost', model: scriptedModel([]) })
    const { stopReason, error } = await ending(actorOf(runtime, lost, { prompt: 'x' }).start())
    assert.equal([stopReason, error?.code], ['error', 'MODEL_BAD_REQUEST'])

    const broken = defineAgent({
      name: 'broken',
      tools: [tool('act', () => 'ok')],
      tokenCounter: crashingCounter(),
      model: caller(['act']),
    })
    for (const prompt of ['x', undefined]) {
      const actor = actorOf(runtime, broken, { id: 'b1', ...(prompt === undefined ? {} : { prompt }) }).start()
      if (prompt === undefined) actor.send({ type: 'prompt', content: 'x' })
      await assert.rejects(ending(actor), (thrown: unknown) => String(thrown).includes('a defect'))
      assert.is(runtime.agent('b1'), undefined, 'nothing is left of it')
    }
  })

  it('fails when its store does, and lets go of the agent', async (context) => {
    const store = brittleStore()
    const runtime = await begin(context, store)
    const { model, definition } = held()
    const actor = actorOf(runtime, definition, { id: 't1', prompt: 'x' }).start()
    await model.begun
    store.fail = new Error('the disk is full')
    model.release()
    await assert.rejects(ending(actor), withCode('STORE_APPEND_FAILED', 'the disk is full'))
    store.fail = undefined
    const again = actorOf(runtime, definition, { id: 't1', prompt: 'y' }).start()
    assert.is((await ending(again)).stopReason, 'stop')
  })

  it('tells a parent what it is to be told, and takes what it is sent', async (context) => {
    const runtime = await begin(context)
    const support = agentLogic(runtime, asker(), { tell: ['approval.requested'] })
    const order = setup({
      actors: { support },
      types: {
        context: {} as { answer: string },
        events: {} as EventOf<'approval.requested'>,
        children: {} as { desk: 'support' },
      },
    }).createMachine({
      context: { answer: '' },
      initial: 'on',
      states: { on: {}, done: { type: 'final' } },
      output: ({ context: { answer } }) => answer,
      invoke: {
        id: 'desk',
        systemId: 'support desk',
        src: 'support',
        input: { id: 'order-17', prompt: 'Fix it.' },
        onDone: { target: '.done', actions: assign({ answer: ({ event }) => event.output.text }) },
      },
      on: {
        'approval.requested': {
          actions: sendTo('desk', ({ event }) => ({ type: 'decide', callId: event.callId, decision: 'approve' })),
        },
      },
    })
    const actor = createActor(order).start()
    assert.is(actor.system.get('support desk'), actor.getSnapshot().children.desk)
    let text = ''
    actor.getSnapshot().children.desk?.on('reply.delta', (event) => (text += event.text))
    assert.is(await toPromise(actor), 'it is done')
    assert.is(text, 'it is done')
  })

  it('has the whole tree of the agent below the actor, in one system, which inspectors see', async (context) => {
    const runtime = await begin(context)
    const chains = new Set<string>()
    const snapshots = new Set<string>()
    const parent = createMachine({
      id: 'order',
      invoke: {
        id: 'support',
        src: agentLogic(runtime, boss(), { tell: ['approval.requested'] }),
        input: { id: 'order-17' },
      },
      on: {
        go: { actions: sendTo('support', { type: 'prompt', content: 'go' }) },
        'approval.requested': {
          actions: sendTo('support', ({ event }) => ({
            type: 'decide',
            callId: (event as EventOf<'approval.requested'>).key,
            decision: 'approve',
          })),
        },
      },
    })
    interface Node {
      readonly id: string
      readonly _parent?: Node
    }
    const chainOf = (node: Node): string =>
      node._parent === undefined ? node.id : `${chainOf(node._parent)} > ${node.id}`
    const actor = createActor(parent, {
      id: 'order',
      inspect: (event) => {
        if (event.type === '@xstate.actor') chains.add(chainOf(event.actorRef as never))
        if (event.type === '@xstate.snapshot') snapshots.add(chainOf(event.actorRef as never))
      },
    }).start()
    actor.send({ type: 'go' })
    const support = actor.getSnapshot().children['support']!
    await waitFor(support as never, (snapshot: { result?: unknown }) => snapshot.result !== undefined)
    const call = [...chains].find((chain) => /^order > support > order-17 > [^ ]+ > agent > reply/.test(chain))
    assert.ok(call !== undefined, [...chains].join('\n'))
    assert.ok(snapshots.has('order > support > order-17'))
    const agent = runtime.agent('order-17')!
    assert.is(agent.ref!.system, actor.system)
    assert.is(agent.ref!.getSnapshot().value, 'idle')
    actor.stop()
  })

  it('ignores events that are no commands, forged ones too, and reports commands that cannot be carried out', async (context) => {
    const runtime = await begin(context)
    const actor = actorOf(runtime, talker, { id: 't1' }).start()
    const errors: string[] = []
    actor.on('error', ({ error }) => errors.push(error.code))
    await waitFor(actor, ({ state }) => state === 'idle')
    const before = actor.getSnapshot()
    for (const forged of [
      { type: 'agent.updated', change: { status: 'done', output: 'forged' } },
      { type: 'stop' },
      { type: 'toString' },
      { type: 'agent.stop', agentId: 't1' },
      { type: 'xstate.done.actor.t1', output: 'forged' },
    ])
      actor.send(forged as never)
    await quiet()
    assert.is(actor.getSnapshot(), before)
    actor.send({ type: 'decide', callId: 'c9', decision: 'approve' })
    actor.send({ type: 'prompt', content: [] } as never)
    actor.send({ type: 'prompt', text: 'x' } as never)
    actor.send({ type: 'resume' })
    await quiet()
    assert.equal(errors, ['CALL_NOT_PENDING', 'INVALID_CONTENT', 'INVALID_CONTENT', 'NOT_PAUSED'])
    actor.send({ type: 'prompt', content: 'still there?' })
    await waitFor(actor, ({ result }) => result?.text === 'answer 1')
    actor.stop()
  })

  it('fails by a bad input before anything is made, and throws for bad options', async (context) => {
    const runtime = await begin(context)
    for (const [input, code] of [
      [5, 'INVALID_OPTION'],
      [{ prompt: 'x', model: 'y' }, 'INVALID_OPTION'],
      [{ id: 7 }, 'INVALID_OPTION'],
      [{ id: 'a/b' }, 'INVALID_ID'],
      [{ prompt: 7 }, 'INVALID_CONTENT'],
      [{ prompt: '' }, 'INVALID_CONTENT'],
      [{ prompt: 'x', limits: { turns: -1 } }, 'INVALID_OPTION'],
      [{ limits: { turns: 1 } }, 'INVALID_OPTION'],
    ] as const) {
      const actor = actorOf(runtime, talker, input as never)
      await assert.rejects(ending(actor.start()), withCode(code))
    }
    const machine = createMachine({
      invoke: {
        src: agentLogic(runtime, talker),
        input: 5 as never,
        onError: { actions: ({ event }) => seen.push(event.error) },
      },
    })
    const seen: unknown[] = []
    createActor(machine).start().stop()
    assert.ok(withCode('INVALID_OPTION', "agent's actor")(seen[0]))
    assert.equal(runtime.agents(), [])
    const wrong = (options: object) => () => agentLogic(runtime, talker, options as never)
    for (const options of [{ onStop: 'close' }, { tell: 'error' }, { textMs: -1 }, { inspect: true }])
      assert.throws(wrong(options), withCode('INVALID_OPTION', 'agentLogic'))
    assert.throws(() => agentLogic({} as never, talker), withCode('INVALID_OPTION', 'createRuntime'))
    assert.throws(() => agentLogic(runtime, {} as never), withCode('INVALID_DEFINITION'))
  })

  it('fails when the agent cannot be had', async (context) => {
    const runtime = await begin(context)
    await runtime.spawn(defineAgent({ name: 'other', model: policyModel(() => 'x') }), { id: 'o1' })
    await assert.rejects(ending(actorOf(runtime, talker, { id: 'o1' }).start()), withCode('INVALID_DEFINITION'))
    assert.ok(runtime.agent('o1') !== undefined, 'which stays')
    await (await runtime.spawn(talker, { id: 's1' })).stop()
    await assert.rejects(ending(actorOf(runtime, talker, { id: 's1' }).start()), withCode('AGENT_STOPPED'))
    const late = actorOf(runtime, talker, { prompt: 'x' }).start()
    const refused = assert.rejects(ending(late), withCode('RUNTIME_CLOSED'))
    const closing = runtime.close()
    await refused
    await closing
    await assert.rejects(ending(actorOf(runtime, talker, { id: 't9' }).start()), withCode('RUNTIME_CLOSED'))
  })

  it('is done, aborted, when the runtime is closed during its run', async (context) => {
    const runtime = await begin(context)
    const { model, definition } = held()
    const task = actorOf(runtime, definition, { id: 't1', prompt: 'x' }).start()
    const talk = actorOf(runtime, definition, { id: 't2' }).start()
    await model.begun
    await waitFor(talk, ({ state }) => state === 'idle')
    const ends = [ending(task), ending(talk)]
    await runtime.close()
    assert.equal(
      (await Promise.all(ends)).map(({ stopReason }) => stopReason),
      ['aborted', 'aborted'],
    )
  })

  it('may be prompted from a listener, before it is there, and while it is busy', async (context) => {
    const runtime = await begin(context)
    const actor = actorOf(runtime, talker, { id: 't1' })
    const texts: string[] = []
    actor.on('run.end', () => {
      if (texts.length < 3) actor.send({ type: 'prompt', content: 'next' })
    })
    actor.on('reply.end', ({ message }) => texts.push(JSON.stringify(message.content)))
    actor.start()
    actor.send({ type: 'prompt', content: 'one' })
    actor.send({ type: 'followUp', content: 'two' })
    assert.is(actor.getSnapshot().queued.length, 2)
    await waitFor(actor, ({ text }) => text === 'answer 5')
    assert.equal(actor.getSnapshot().queued, [])
    actor.stop()
  })

  it('changes only what is new in its snapshot, a few times a run however many deltas there are', async (context) => {
    const runtime = await begin(context)
    const words = Array.from({ length: 300 }, (_, n) => `w${n}`).join(' ')
    const teller = defineAgent({ name: 'teller', model: policyModel(() => words) })
    const actor = actorOf(runtime, teller, { id: 't1' }, { textMs: 1_000 }).start()
    await waitFor(actor, ({ state }) => state === 'idle')
    const snapshots = [actor.getSnapshot()]
    let deltas = 0
    actor.on('reply.delta', () => (deltas += 1))
    actor.subscribe((snapshot) => snapshots.push(snapshot))
    actor.send({ type: 'prompt', content: 'go' })
    await waitFor(actor, ({ result }) => result !== undefined)
    assert.is(deltas, 300)
    assert.ok(snapshots.length < 15, `${snapshots.length} snapshots`)
    assert.is(new Set(snapshots.map(({ pending }) => pending)).size, 1)
    const spent = new Set(snapshots.map((snapshot) => snapshot.spent))
    assert.is(spent.size, new Set([...spent].map((each) => JSON.stringify(each))).size)
    actor.stop()
  })

  it('has questions of tools answered through it', async (context) => {
    const asking = defineTool({
      name: 'size',
      description: 'Asks for a size.',
      input: z.object({}),
      run: async (_, { ask }) => `size ${await ask(z.number(), 'Which size?')}`,
    })
    const tailor = defineAgent({ name: 'tailor', tools: [asking], model: caller(['size']) })
    const runtime = await begin(context)
    const actor = actorOf(runtime, tailor, { prompt: 'a coat' }).start()
    const results: string[] = []
    actor.on('tool.end', ({ message }) => results.push(JSON.stringify(message.content)))
    const { pending } = await waitFor(actor, (snapshot) => snapshot.pending.length > 0)
    assert.is(pending[0]?.kind === 'question' && pending[0].question, 'Which size?')
    actor.send({ type: 'decide', callId: pending[0]!.key, decision: 'answer', value: 42 })
    assert.is((await ending(actor)).text, 'done')
    assert.match(results.join(), 'size 42')
  })

  it('shows what waits for a decision, and why it is paused', async (context) => {
    const runtime = await begin(context)
    const actor = actorOf(runtime, boss(), { id: 'b1', prompt: 'go' }).start()
    const { pending } = await waitFor(actor, (snapshot) => snapshot.pending.length > 0)
    assert.is(pending[0]?.name, 'act')
    const told = new Promise<AgentEvent>((resolve) => void actor.on('run.end', resolve))
    actor.send({ type: 'decide', callId: pending[0]!.key, decision: 'approve' })
    assert.is((await ending(actor)).text, 'all done')
    assert.is((await told).type, 'run.end')
  })
})
