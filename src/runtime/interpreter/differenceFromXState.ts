import { isDeepStrictEqual } from 'node:util'
import { type AnyActorRef, type AnyStateMachine, fromCallback, setup } from 'xstate'
import { messageOf } from '../../protocol/errors.ts'
import { advance } from '../../machines/agentSetup.ts'
import { type Interpreter, plannedInterpreter, xstateInterpreter } from './interpreter.ts'

/** A small chart with every feature that plans are made for. */
function trialChart(note: (what: string) => void): AnyStateMachine {
  const child = (name: string) =>
    fromCallback<{ readonly type: string }>(({ receive, input }) => {
      note(`${name} begins with ${JSON.stringify(input)}`)
      receive(({ type }) => note(`${name} hears ${type}`))
      return () => note(`${name} ends`)
    })
  const noted = (what: string) => () => note(what)
  const grow = advance((draft) => {
    draft.record({ type: 'tag.expired', nodeId: draft.context.seq, tag: 'trial' } as never)
    draft.children.push({ type: 'start', src: 'sleep', id: `grown.${draft.context.seq}`, input: { key: '', until: 0 } })
    if (draft.context.seq > 1) draft.children.push({ type: 'stop', id: `grown.${draft.context.seq - 1}` })
    draft.children.push({ type: 'tell', id: `grown.${draft.context.seq}`, event: { type: 'close' } })
  })
  const chart = setup({
    types: { context: {} as { readonly seq: number }, events: {} as { readonly type: string } },
    actors: { sleep: child('sleep'), outer: child('outer'), inner: child('inner') },
    actions: {
      record: ({ context }, record: object) => note(`record ${JSON.stringify(record)} at ${context.seq}`),
      enterOuter: noted('enter outer'),
      exitOuter: noted('exit outer'),
      enterInner: noted('enter inner'),
      exitInner: noted('exit inner'),
    },
    guards: { isFull: ({ context }) => context.seq >= 3, isOdd: ({ context }) => context.seq % 2 === 1 },
  })
  const add = chart.assign(({ context }) => ({ seq: context.seq + 1 }))
  return chart.createMachine({
    id: 'trial',
    context: { seq: 0 } as never,
    ...({ context: () => ({ seq: 0 }) } as object),
    output: ({ context }) => ({ seq: context.seq }),
    options: { maxIterations: 50 },
    initial: 'resting',
    on: {
      grow: { actions: grow as never },
      'odd.*': { guard: 'isOdd', target: '.resting' },
      again: { target: '.outer', reenter: true },
    },
    states: {
      resting: { on: { begin: 'outer', add: { actions: add } } },
      outer: {
        entry: 'enterOuter',
        exit: 'exitOuter',
        invoke: { src: 'outer', id: 'outer', input: ({ context }) => context.seq },
        initial: 'first',
        on: { add: { actions: add }, within: '.second', anew: { target: 'outer', reenter: true } },
        states: {
          first: { always: { guard: 'isFull', target: '#trial.over' }, on: { next: 'second' } },
          second: {
            entry: 'enterInner',
            exit: ['exitInner', chart.assign({ seq: ({ context }) => context.seq + 1 })],
            invoke: { src: 'inner', id: 'inner' },
            on: { next: 'first', 'odd.one': { actions: add } },
          },
        },
      },
      over: { type: 'final' },
    },
  })
}

const road = 'grow begin next odd.one odd.two begin within anew within again next nothing next add next next add'.split(
  ' ',
)

/** What happens on the road: every effect in its order, and the state after each event. */
function lifeOf({ prepare, createActor }: Interpreter): readonly unknown[] {
  const life: unknown[] = []
  const actor = createActor(prepare(trialChart((what) => life.push(what))), { id: 'trial', input: undefined })
  actor.subscribe({ error: (error: unknown) => life.push(`failed: ${String(error)}`) })
  const look = (): void => {
    const { value, context, children, status, output, tags } = actor.getSnapshot()
    const alive = Object.entries(children as Readonly<Record<string, AnyActorRef>>).map(([id, { src }]) => [id, src])
    life.push([value, { ...context }, alive, status, output, [...tags]])
  }
  actor.start()
  look()
  for (const type of road) {
    actor.send({ type })
    look()
  }
  actor.stop()
  return life
}

let answer: { readonly difference: string | undefined } | undefined

/** Whether the plans fit this version of XState, on whose inside they lean; looked at once a process. `undefined`: they do. */
export const differenceFromXState = (): string | undefined =>
  (answer ??= { difference: compareWithXState(plannedInterpreter) }).difference

/** Where an interpreter does something else than XState's on a small chart; `undefined`: nowhere. */
export function compareWithXState(interpreter: Interpreter): string | undefined {
  try {
    const own = lifeOf(xstateInterpreter)
    const planned = lifeOf(interpreter)
    const at = own.findIndex((what, index) => !isDeepStrictEqual(what, planned[index]))
    if (at === -1 && own.length === planned.length) return undefined
    return `XState: ${JSON.stringify(own.at(at))}, plans: ${JSON.stringify(planned.at(at))}`
  } catch (thrown) {
    return `no plans can be made: ${messageOf(thrown)}`
  }
}
