import * as own from 'xstate'
import * as xstate520 from 'xstate-5-20'
import * as xstate528 from 'xstate-5-28'
import { agentLogic } from '../../../src/xstate.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { begin, boss, held, talker } from './logicParts.ts'

/** As much of XState as the cases use, in the words of the newest. */
type XState = Pick<typeof own, 'createActor' | 'setup' | 'assign' | 'sendTo' | 'toPromise' | 'waitFor'>

const copies: readonly (readonly [name: string, copy: XState])[] = [
  ['5.20', xstate520 as unknown as XState],
  ['5.28', xstate528 as unknown as XState],
  ['the newest', own],
]

for (const [name, { createActor, setup, assign, sendTo, toPromise, waitFor }] of copies)
  describe(`an agent below an actor of XState ${name}`, (it) => {
    it('answers, asks for approvals, has sub-agents, is seen by inspectors and ends with its parent', async (context) => {
      const runtime = await begin(context)
      const support = agentLogic(runtime, boss(), { tell: ['approval.requested'] })
      const machine = setup({
        actors: { support },
        types: {
          context: {} as { text: string },
          events: {} as { readonly type: 'approval.requested'; readonly key: string },
        },
      }).createMachine({
        context: { text: '' },
        initial: 'asking',
        states: {
          asking: {
            invoke: {
              id: 'desk',
              systemId: 'desk',
              src: 'support',
              input: { id: 'b1', prompt: 'go' },
              onDone: { target: 'done', actions: assign({ text: ({ event }) => event.output.text }) },
            },
          },
          done: { type: 'final' },
        },
        on: {
          'approval.requested': {
            actions: sendTo('desk', ({ event }) => ({ type: 'decide', callId: event.key, decision: 'approve' })),
          },
        },
        output: ({ context: { text } }) => text,
      })
      const seen: string[] = []
      const roots = new Set<string>()
      const inspect = (event: own.InspectionEvent): void => {
        roots.add(event.rootId)
        if (event.type === '@xstate.actor') seen.push((event.actorRef as unknown as own.AnyActorRef).id)
      }
      const actor = createActor(machine, { inspect })
      actor.start()
      const desk = actor.system.get('desk') as own.AnyActorRef
      const deltas: string[] = []
      desk.on('reply.delta', ({ text }) => void deltas.push(text))
      assert.is(await toPromise(actor), 'all done')
      assert.is(deltas.join(''), 'all done')
      assert.equal([...roots], [actor.sessionId])
      assert.ok(
        ['desk', 'b1', 'agent', 'reply'].every((id) => seen.includes(id)),
        seen.join(),
      )
      assert.is(runtime.agent('b1'), undefined)
    })

    it('is aborted, restored, and inspected on its own', async (context) => {
      const runtime = await begin(context)
      const { model, definition } = held()
      const logic = agentLogic(runtime, definition, { onStop: 'suspend' })
      const first = createActor(logic, { input: { id: 't1', prompt: 'go' } }).start()
      await model.begun
      const agent = runtime.agent('t1')!
      const seen = new Set<string>()
      const end = agent.inspect(({ type, rootId }) => void seen.add(`${type} ${rootId === agent.ref?.sessionId}`))
      const snapshot: unknown = JSON.parse(JSON.stringify(first.getPersistedSnapshot()))
      first.stop()
      end()
      assert.is(model.aborts, 1)
      assert.ok(seen.has('@xstate.actor true') && seen.has('@xstate.snapshot true'), 'it is told of')
      assert.ok(
        [...seen].every((each) => each.endsWith(' true')),
        'as of a root',
      )
      model.release()
      const second = createActor(logic, { snapshot: snapshot as never }).start()
      assert.is((await toPromise(second)).text, 'well done 1')
    })

    it('fails by a bad input, and holds a conversation', async (context) => {
      const runtime = await begin(context)
      const logic = agentLogic(runtime, talker)
      const bad = createActor(logic, { input: 5 as never })
      bad.subscribe({ error: () => {} })
      await assert.rejects(toPromise(bad.start()), (thrown: unknown) => String(thrown).includes('input'))
      const actor = createActor(logic, { input: { id: 't1' } }).start()
      actor.send({ type: 'prompt', content: 'hello' })
      await waitFor(actor, ({ result }) => result?.text === 'answer 1')
      actor.stop()
    })
  })
