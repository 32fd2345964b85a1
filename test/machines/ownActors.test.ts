import { type AnyActorRef, type AnyStateMachine, fromCallback, setup } from 'xstate'
import { effect } from '../../src/actors/effect.ts'
import type { Cancellation } from '../../src/actors/timing/cancellation.ts'
import { type Interpreter, plannedInterpreter, xstateInterpreter } from '../../src/runtime/interpreter/interpreter.ts'
import { gate, quiet } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

const interpreters: Readonly<Record<string, Interpreter>> = {
  "XState's": xstateInterpreter,
  'our own': plannedInterpreter,
}

/** Works while it is in `working`; `leave` and `anew` stop the effect. */
function workshop(work: ReturnType<typeof effect<string, undefined>>, seen: string[]): AnyStateMachine {
  return setup({
    types: { context: {}, events: {} as { readonly type: string } },
    actors: { work },
    actions: {
      done: ({ event }) => void seen.push(`done ${String((event as { readonly output?: unknown }).output)}`),
      failed: ({ event }) => void seen.push(`failed ${String((event as { readonly error?: unknown }).error)}`),
    },
  }).createMachine({
    context: (() => ({})) as never,
    initial: 'working',
    on: { 'xstate.done.actor.*': { actions: 'done' }, anew: { target: '.working', reenter: true } },
    states: {
      working: {
        invoke: {
          src: 'work',
          id: 'work',
          onDone: { target: 'resting', actions: 'done' },
          onError: { target: 'resting', actions: 'failed' },
        },
        on: { leave: 'resting' },
      },
      resting: {},
    },
  })
}

for (const [whose, { prepare, createActor }] of Object.entries(interpreters)) {
  const begin = (machine: AnyStateMachine): AnyActorRef => {
    const actor = createActor(prepare(machine), { id: 'workshop', input: undefined })
    actor.start()
    return actor
  }

  describe(`an effect under actors of ${whose} kind`, (it) => {
    it('that ends at once ends after the step that started it', async ({ cleanup }) => {
      const seen: string[] = []
      const actor = begin(
        workshop(
          effect(() => 'made'),
          seen,
        ),
      )
      cleanup(() => actor.stop())
      assert.is(actor.getSnapshot().value, 'working')
      await quiet()
      assert.equal(seen, ['done made'])
      assert.is(actor.getSnapshot().value, 'resting')
    })

    it('that throws at once is an error of the effect, and of nothing else', async ({ cleanup }) => {
      const seen: string[] = []
      const machine = workshop(
        effect<string, undefined>(() => {
          throw new Error('no tools')
        }),
        seen,
      )
      const actor = begin(machine)
      cleanup(() => actor.stop())
      await quiet()
      assert.equal(seen, ['failed Error: no tools'])
      assert.is(actor.getSnapshot().status, 'active')
    })

    it('that was stopped is told so, and its result is nobody’s', async ({ cleanup }) => {
      const seen: string[] = []
      const open = gate()
      const given: Cancellation[] = []
      const machine = workshop(
        effect(async (_, cancellation) => {
          given.push(cancellation)
          await open.promise
          return `life ${given.indexOf(cancellation)}`
        }),
        seen,
      )
      const actor = begin(machine)
      cleanup(() => actor.stop())
      await quiet()
      actor.send({ type: 'anew' })
      await quiet()
      assert.equal(
        given.map(({ aborted, signal }) => [aborted, signal.aborted]),
        [
          [true, true],
          [false, false],
        ],
      )
      open.resolve()
      await quiet()
      assert.equal(seen, ['done life 1'])
      assert.is(actor.getSnapshot().value, 'resting')
    })
  })

  describe(`an actor of ${whose} kind`, (it) => {
    it('does first what its first state asks for, then what its children and others have sent meanwhile', ({
      cleanup,
    }) => {
      const seen: string[] = []
      const talker = fromCallback<{ readonly type: string }>(({ sendBack }) => sendBack({ type: 'fromChild' }))
      const note = (what: string) => (): void => void seen.push(what)
      const machine = setup({
        types: { context: {}, events: {} as { readonly type: string } },
        actors: { talker },
        actions: { enter: note('entered'), child: note('from the child'), queued: note('queued before') },
      }).createMachine({
        context: (() => ({})) as never,
        initial: 'a',
        states: {
          a: {
            entry: 'enter',
            invoke: { src: 'talker', id: 'talker' },
            on: { fromChild: { actions: 'child' }, queued: { actions: 'queued' } },
          },
        },
      })
      const actor = createActor(prepare(machine), { id: 'talk', input: undefined })
      cleanup(() => actor.stop())
      actor.send({ type: 'queued' })
      actor.start()
      assert.equal(seen, ['entered', 'queued before', 'from the child'])
    })

    it('leaves the snapshots that it gave out as they were', async ({ cleanup }) => {
      const machine = workshop(
        effect(() => new Promise<string>(() => {})),
        [],
      )
      const actor = begin(machine)
      cleanup(() => actor.stop())
      const before = actor.getSnapshot()
      actor.send({ type: 'leave' })
      assert.equal(Object.keys(before.children), ['work'])
      assert.equal(Object.keys(actor.getSnapshot().children), [])
    })

    it('that was stopped before it started hears nothing', () => {
      const seen: string[] = []
      const actor = createActor(
        prepare(
          workshop(
            effect(() => 'made'),
            seen,
          ),
        ),
        { id: 'workshop', input: undefined },
      )
      actor.stop()
      actor.send({ type: 'anew' })
      assert.equal(seen, [])
    })
  })
}
