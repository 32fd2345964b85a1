import { assign, createActor, createMachine, setup, waitFor } from 'xstate'
import { z } from 'zod'
import type { Runtime } from '../../bridge/src/createRuntime.ts'
import { defineAgent, policyModel, type AgentDefinition } from '../../../src/index.ts'
import { agentLogic } from '../../../src/xstate.ts'
import { memoryStore } from '../../stores/src/memory/memoryStore.ts'
import type { Store } from '../../../src/protocol/ports/store.ts'
import { quiet, tool, withCode } from '../../../test/support/agentHarness.ts'
import { logOf } from '../../../test/support/lives.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { actorOf, asker, begin, boss, ending, held, kept, talker } from './logicParts.ts'

const types = async (store: Store, agentId: string): Promise<string[]> =>
  (await logOf(store, agentId)).map(({ type }) => type)

describe('an actor stopped in the middle of a reply, and restored', (it) => {
  it('is done, aborted, if its agent was', async (context) => {
    const runtime = await begin(context)
    const { model, definition } = held()
    const first = actorOf(runtime, definition, { id: 't1', prompt: 'go' }).start()
    await model.begun
    const snapshot = kept(first)
    first.stop()
    assert.is(model.aborts, 1, 'at once')
    const second = actorOf(runtime, definition, {}, { snapshot }).start()
    assert.is((await ending(second)).stopReason, 'aborted')
    assert.is(model.requests.length, 1)
  })

  it('goes on if its agent was suspended, as after a crash', async (context) => {
    const store = memoryStore()
    const runtime = await begin(context, store)
    const { model, definition } = held()
    const first = actorOf(runtime, definition, { id: 't1', prompt: 'go' }, { onStop: 'suspend' }).start()
    await model.begun
    const snapshot = kept(first)
    first.stop()
    assert.is(model.aborts, 1)
    model.release()
    const second = actorOf(runtime, definition, {}, { onStop: 'suspend', snapshot }).start()
    const { stopReason, text } = await ending(second)
    assert.equal([stopReason, text], ['stop', 'well done 1'])
    assert.is(runtime.agent('t1'), undefined)
    const ends = (await logOf(store, 't1')).flatMap((record) => (record.type === 'run.end' ? [record.stopReason] : []))
    assert.equal(ends, ['paused', 'stop'])
  })

  it('goes on with the run that was left to itself', async (context) => {
    const runtime = await begin(context)
    const { model, definition } = held()
    const first = actorOf(runtime, definition, { id: 't1', prompt: 'go' }, { onStop: 'leave' }).start()
    await model.begun
    const snapshot = kept(first)
    first.stop()
    const second = actorOf(runtime, definition, {}, { onStop: 'leave', snapshot }).start()
    await waitFor(second, ({ state }) => state === 'replying.streaming')
    assert.equal([model.aborts, second.getSnapshot().text], [0, 'well '])
    model.release()
    assert.is((await ending(second)).text, 'well done 1')
    assert.is(model.requests.length, 1)
    assert.is(runtime.agent('t1')?.state, 'idle', 'still there')
  })

  it('hears of a run that was left and has ended meanwhile', async (context) => {
    const runtime = await begin(context)
    const { model, definition } = held()
    const first = actorOf(runtime, definition, { id: 't1', prompt: 'go' }, { onStop: 'leave' }).start()
    await model.begun
    const snapshot = kept(first)
    first.stop()
    const agent = runtime.agent('t1')!
    model.release()
    for await (const event of agent.events()) if (event.type === 'run.end') break
    const second = actorOf(runtime, definition, {}, { onStop: 'leave', snapshot }).start()
    assert.is((await ending(second)).text, 'well done 1')
    assert.is(model.requests.length, 1)
  })
})

describe('an actor whose agent holds a call, stopped and restored', (it) => {
  for (const onStop of ['abort', 'suspend', 'leave'] as const)
    it(`still holds it, with ${onStop}`, async (context) => {
      const runtime = await begin(context)
      const ran: string[] = []
      const definition = asker('asker', ran)
      const first = actorOf(runtime, definition, { id: 'a1', prompt: 'go' }, { onStop }).start()
      await waitFor(first, ({ pending }) => pending.length === 1)
      const snapshot = kept(first)
      first.stop()
      const second = actorOf(runtime, definition, {}, { onStop, snapshot }).start()
      const { pending } = await waitFor(second, (state) => state.pending.length === 1)
      second.send({ type: 'decide', callId: pending[0]!.callId, decision: 'approve' })
      assert.is((await ending(second)).text, 'it is done')
      assert.equal(ran, ['asker'])
    })

  it('still holds that of a sub-agent, whose log was let go too', async (context) => {
    const runtime = await begin(context)
    const definition = boss()
    const first = actorOf(runtime, definition, { id: 'b1', prompt: 'go' }, { onStop: 'suspend' }).start()
    await waitFor(first, ({ pending }) => pending.length === 1)
    const snapshot = kept(first)
    first.stop()
    const second = actorOf(runtime, definition, {}, { onStop: 'suspend', snapshot }).start()
    const { pending } = await waitFor(second, (state) => state.pending.length === 1)
    second.send({ type: 'decide', callId: pending[0]!.key, decision: 'approve' })
    assert.is((await ending(second)).text, 'all done')
  })
})

describe('a persisted actor', (it) => {
  it('keeps what it was asked, and what was said before its agent was there', async (context) => {
    const store = memoryStore()
    const runtime = await begin(context, store)
    const first = actorOf(runtime, talker, { id: 't1', prompt: 'one', deps: { key: 'secret' } }).start()
    first.send({ type: 'followUp', content: 'two' })
    const snapshot = kept(first)
    assert.not.match(JSON.stringify(snapshot), 'secret')
    first.stop()
    await quiet()
    assert.is(runtime.agent('t1'), undefined)
    const second = actorOf(runtime, talker, {}, { snapshot }).start()
    assert.is((await ending(second)).text, 'answer 3')
  })

  it('asks no model again when its run had ended unheard', async (context) => {
    const store = memoryStore()
    const { model, definition } = held()
    const dying = await begin(context, store)
    const first = actorOf(dying, definition, { id: 't1', prompt: 'go' }).start()
    await model.begun
    const snapshot = kept(first)
    model.release()
    await ending(first)
    const runtime = await begin(context, store)
    assert.is((await ending(actorOf(runtime, definition, {}, { snapshot }).start())).text, 'well done 1')
    assert.is(model.requests.length, 1)
  })

  it('that is done stays done, with its output; one that failed stays so', async (context) => {
    const runtime = await begin(context)
    const first = actorOf(runtime, talker, { id: 't1', prompt: 'go' }).start()
    await ending(first)
    const again = actorOf(runtime, talker, {}, { snapshot: kept(first) }).start()
    assert.is((await ending(again)).text, 'answer 1')
    const bad = actorOf(runtime, talker, { id: 'a/b' }).start()
    const still = actorOf(runtime, talker, {}, { snapshot: kept(bad) }).start()
    assert.is((still.getSnapshot().error as { code: string }).code, 'INVALID_ID')
    assert.equal(runtime.agents(), [])
  })

  it('is refused when its snapshot is that of something else', async (context) => {
    const runtime = await begin(context)
    const whole = { status: 'active', agentId: 'a', request: null, queued: [] }
    const wrong = [
      { status: 'new' },
      { agentId: 7 },
      { request: undefined },
      { request: { content: 'x' } },
      { queued: {} },
      { queued: [{}] },
    ]
    for (const snapshot of [{}, 7, ...wrong.map((fields) => ({ ...whole, ...fields }))])
      await assert.rejects(
        ending(actorOf(runtime, talker, {}, { snapshot }).start()),
        withCode('INVALID_OPTION', 'persisted snapshot'),
      )
  })

  it('comes back as a child of a machine that is restored', async (context) => {
    const store = memoryStore()
    const { model, definition } = held()
    const machineFor = (runtime: Parameters<typeof agentLogic>[0]) =>
      createMachine({
        initial: 'asking',
        states: {
          asking: {
            invoke: {
              src: agentLogic(runtime, definition, { onStop: 'suspend' }),
              id: 'desk',
              input: { id: 't1', prompt: 'go' },
              onDone: 'done',
            },
          },
          done: { type: 'final' },
        },
      })
    const before = await begin(context, store)
    // A child in line is not persisted: it needs a name.
    const named = (runtime: Parameters<typeof agentLogic>[0]) =>
      machineFor(runtime).provide({ actors: { 'xstate.invoke.0.(machine).asking': agentLogic(runtime, definition) } })
    const first = createActor(named(before)).start()
    await model.begun
    const snapshot = kept(first)
    await before.close()
    first.stop()
    model.release()
    const after = await begin(context, store)
    const second = createActor(named(after), { snapshot: snapshot as never }).start()
    await waitFor(second, ({ status }) => status === 'done')
  })
})

describe('a fresh actor with the id of an earlier one', (it) => {
  it('gives up what that was stopped in, when it has something new to ask', async (context) => {
    const store = memoryStore()
    const runtime = await begin(context, store)
    const { model, definition } = held()
    const first = actorOf(runtime, definition, { id: 't1', prompt: 'old' }, { onStop: 'suspend' }).start()
    await model.begun
    first.stop()
    model.release()
    const second = actorOf(runtime, definition, { id: 't1', prompt: 'new' }).start()
    assert.is((await ending(second)).stopReason, 'stop')
    assert.is(model.requests.length, 2)
    assert.ok((await types(store, 't1')).includes('run.abandoned'))
  })

  it('gives up a call that waits for a decision, too', async (context) => {
    const runtime = await begin(context)
    const first = actorOf(runtime, asker(), { id: 'a1', prompt: 'old' }).start()
    await waitFor(first, ({ pending }) => pending.length === 1)
    first.stop()
    const second = actorOf(runtime, asker(), { id: 'a1', prompt: 'new' }).start()
    const { pending } = await waitFor(second, (state) => state.pending[0]?.callId === 'call_1_0')
    second.send({ type: 'decide', callId: pending[0]!.callId, decision: 'approve' })
    assert.is((await ending(second)).stopReason, 'stop')
  })

  it('goes on with it otherwise', async (context) => {
    const runtime = await begin(context)
    const { model, definition } = held()
    const first = actorOf(runtime, definition, { id: 't1' }, { onStop: 'suspend' }).start()
    first.send({ type: 'prompt', content: 'old' })
    await model.begun
    first.stop()
    model.release()
    const second = actorOf(runtime, definition, { id: 't1' }).start()
    await waitFor(second, ({ result }) => result?.text === 'well done 1')
    second.stop()
  })

  for (const onStop of ['abort', 'suspend', 'leave'] as const)
    for (const entries of [1, 3])
      it(`waits for its log and runs its own prompt, entered ${entries} times, with ${onStop}`, async (context) => {
        const runtime = await begin(context)
        const { model, definition } = held()
        for (let entry = 0; entry < entries; entry += 1) {
          const actor = actorOf(runtime, definition, { id: 't1', prompt: `old ${entry}` }, { onStop }).start()
          if (entry === 1) await quiet()
          else await waitFor(actor, ({ state }) => state !== 'opening')
          actor.stop()
        }
        model.release()
        const last = actorOf(runtime, definition, { id: 't1', prompt: 'new' }, { onStop }).start()
        const { stopReason } = await ending(last)
        assert.is(stopReason, 'stop')
        const said = JSON.stringify(model.requests.at(-1)?.messages)
        assert.match(said, 'new')
      })
})

describe('what waits, and was asked after the actor was persisted', (it) => {
  const machineOf = (runtime: Runtime, definition: AgentDefinition) =>
    setup({
      // oxlint-disable-next-line typescript/no-unnecessary-type-assertion -- XState takes the type of the context from it.
      types: {} as { context: { asked: readonly { readonly key: string; readonly from: string }[] } },
      actors: {
        agent: agentLogic(runtime, definition, { tell: ['approval.requested', 'question.asked'], onStop: 'suspend' }),
      },
    }).createMachine({
      context: { asked: [] },
      invoke: { id: 'desk', src: 'agent', input: { id: 'x1', prompt: 'go' } },
      on: {
        '*': {
          actions: assign({
            asked: ({ context, event }) => [
              ...context.asked,
              ...('key' in event
                ? [
                    {
                      key: String((event as unknown as { key: unknown }).key),
                      from: String((event as { agentId?: string }).agentId),
                    },
                  ]
                : []),
            ],
          }),
        },
      },
    })

  const questioner = (): AgentDefinition =>
    defineAgent({
      name: 'questioner',
      model: policyModel(({ messages }) =>
        messages.at(-1)!.role === 'toolResult' ? 'done' : { toolCalls: [{ name: 'ask', input: {} }] },
      ),
      tools: [tool('ask', (_, { ask }) => ask(z.string(), 'Who?'))],
    })

  for (const [what, make] of Object.entries({
    'an approval': () => asker('asker', []),
    'an approval of a sub-agent': () => boss(),
    'a question': questioner,
  }))
    it(`is told again after a restart, once: ${what}`, async (context) => {
      const store = memoryStore()
      const dying = await begin(context, store)
      const definition = make()
      const first = createActor(machineOf(dying, definition)).start()
      const early = JSON.stringify(first.getPersistedSnapshot())
      await waitFor(first, ({ context: { asked } }) => asked.length === 1)
      const [told] = first.getSnapshot().context.asked
      first.stop()
      await dying.close({ detach: true })

      const runtime = await begin(context, store)
      const second = createActor(machineOf(runtime, definition), { snapshot: JSON.parse(early) as never })
      second.start()
      context.cleanup(() => void second.stop())
      await waitFor(second, ({ context: { asked } }) => asked.length > 0)
      await quiet()
      assert.equal(second.getSnapshot().context.asked, [told])
    })

  it('is not told again where it was told in this life, nor once it is decided', async (context) => {
    const runtime = await begin(context)
    const actor = createActor(machineOf(runtime, asker('asker', []))).start()
    context.cleanup(() => void actor.stop())
    await waitFor(actor, ({ context: { asked } }) => asked.length > 0)
    runtime.agent('x1')!.decide(actor.getSnapshot().context.asked[0]!.key, 'approve')
    await waitFor(actor, ({ children }) => children['desk']?.getSnapshot().status === 'done')
    assert.is(actor.getSnapshot().context.asked.length, 1)
  })
})
