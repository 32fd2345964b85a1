import { isDeepStrictEqual } from 'node:util'
import { type AnyActorRef, type AnyStateMachine, fromCallback, setup } from 'xstate'
import { changeAction, type ChildCommand, type MakeChange } from '../../../../src/machines/change.ts'
import { messageOf } from '../../../../src/protocol/errors.ts'
import {
  type Interpreter,
  plannedInterpreter,
  xstateInterpreter,
} from '../../../../src/runtime/interpreter/interpreter.ts'
import type { Logger } from '../../../../src/protocol/ports/logger.ts'
import { isTested, xstateVersion } from './testedXState.ts'

interface Trial {
  readonly seq: number
}

/** A small chart that uses every feature the planner supports. */
function trialChart(note: (what: string) => void): AnyStateMachine {
  const child = (name: string) =>
    fromCallback<{ readonly type: string }>(({ receive, input }) => {
      note(`${name} begins with ${JSON.stringify(input)}`)
      receive(({ type }) => note(`${name} hears ${type}`))
      return () => note(`${name} ends`)
    })
  const chart = setup({
    types: { context: {} as Trial, events: {} as { readonly type: string } },
    actors: { grown: child('grown'), outer: child('outer'), inner: child('inner') },
    actions: {
      record: ({ context }, records: object) => note(`record ${JSON.stringify(records)} at ${context.seq}`),
      enter: ({ context }) => note(`enter at ${context.seq}`),
      exit: ({ context }) => note(`exit at ${context.seq}`),
    },
    guards: { isFull: ({ context }) => context.seq >= 3, isOdd: ({ context }) => context.seq % 2 === 1 },
  })
  const update = (change: MakeChange<Trial>) =>
    changeAction<Trial, { readonly type: string }>(chart.enqueueActions, change)
  const add = update(({ seq }) => ({ context: { seq: seq + 1 } }))
  const grow = update((context) => {
    const id = `grown.${context.seq}`
    const children: readonly ChildCommand[] = [
      { type: 'start', src: 'grown', id, input: context, systemId: 'grown' },
      { type: 'stop', id: `grown.${context.seq - 1}` },
      { type: 'tell', id, event: { type: 'close' } },
    ]
    return { context, records: [{ type: 'tag.expired', nodeId: context.seq } as never], children }
  })
  const gather = update((context) => ({
    context,
    children: ['a', 'b', 'c'].map((id) => ({ type: 'start', src: 'grown', id, input: context })),
  }))
  const scatter = update((context) => ({
    context,
    children: ['c', 'a', 'unknown'].map((id) => ({ type: 'stop', id })),
  }))
  return chart.createMachine({
    id: 'trial',
    context: (() => ({ seq: 0 })) as never,
    output: ({ context }) => ({ seq: context.seq }),
    options: { maxIterations: 50 },
    initial: 'resting',
    on: {
      grow: { actions: grow },
      gather: { actions: gather },
      scatter: { actions: scatter },
      'odd.*': { guard: 'isOdd', target: '.resting' },
      again: { target: '.outer', reenter: true },
    },
    states: {
      resting: { on: { begin: 'outer', add: { actions: add } } },
      outer: {
        entry: 'enter',
        exit: ['exit', add],
        invoke: { src: 'outer', id: 'outer', input: ({ context }) => context.seq },
        initial: 'first',
        on: { within: '.second', anew: { target: 'outer', reenter: true } },
        states: {
          first: { always: { guard: 'isFull', target: '#trial.over' }, on: { next: 'second' } },
          second: {
            entry: ['enter', grow],
            invoke: { src: 'inner', id: 'inner' },
            on: { next: 'first', 'odd.one': { actions: add } },
          },
        },
      },
      over: { type: 'final' },
    },
  })
}

const eventTypes = 'add grow gather scatter begin next odd.one odd.two nothing begin within anew again next next'.split(
  ' ',
)

/** Sends the events to the chart; returns every effect in order and the state after each event. */
function traceOf({ prepare, createActor }: Interpreter): readonly unknown[] {
  const trace: unknown[] = []
  const actor = createActor(prepare(trialChart((what) => trace.push(what))), { id: 'trial', input: undefined })
  actor.subscribe({ error: (error: unknown) => trace.push(`failed: ${String(error)}`) })
  const look = (): void => {
    const { value, context, children, status, output, tags } = actor.getSnapshot()
    const alive = Object.entries(children as Readonly<Record<string, AnyActorRef>>).map(([id, { src }]) => [id, src])
    trace.push([value, { ...context }, alive, status, output, [...tags]])
  }
  actor.start()
  look()
  for (const type of eventTypes) {
    // XState's development build warns of what is sent after the end.
    if (actor.getSnapshot().status !== 'active') break
    actor.send({ type })
    look()
  }
  actor.stop()
  return trace
}

/** Returns the first difference from XState's own interpreter on a small chart; `undefined` if there is none. */
export function compareWithXState(interpreter: Interpreter): string | undefined {
  try {
    const own = traceOf(xstateInterpreter)
    const planned = traceOf(interpreter)
    const at = own.findIndex((what, index) => !isDeepStrictEqual(what, planned[index]))
    if (at === -1 && own.length === planned.length) return undefined
    return `XState: ${JSON.stringify(own.at(at))}, plans: ${JSON.stringify(planned.at(at))}`
  } catch (thrown) {
    return `no plans can be made: ${messageOf(thrown)}`
  }
}

/** The installed XState. */
interface Installed {
  readonly version: string
  /** Returns the difference between plans and XState; `undefined` if there is none. */
  readonly difference: () => string | undefined
}

let answer: { readonly difference: string | undefined } | undefined

const installed: Installed = {
  version: xstateVersion,
  difference: () => (answer ??= { difference: compareWithXState(plannedInterpreter) }).difference,
}

/**
 * Returns the interpreter to use. Plans rely on XState's internals. An untested version is compared with them once per process, and if they
 * differ, XState's own interpreter is used and the logger told.
 */
export function interpretBy(
  interpreter: 'planned' | 'xstate',
  logger: Logger | undefined,
  { version, difference: compare }: Installed = installed,
): Interpreter {
  if (interpreter === 'xstate') return xstateInterpreter
  const difference = isTested(version) ? undefined : compare()
  if (difference === undefined) return plannedInterpreter
  logger?.warn({ difference }, 'This version of XState does not do what the planned interpreter does: its own is used.')
  return xstateInterpreter
}
