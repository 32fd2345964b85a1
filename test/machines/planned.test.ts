import { createActor, createMachine, type AnyStateMachine } from 'xstate'
import { agentMachine } from '../../src/machines/agentMachine.ts'
import { supervisorMachine } from '../../src/machines/supervisorMachine.ts'
import { compareWithXState } from '../../packages/runtime/src/interpreter/differenceFromXState.ts'
import { type Interpreter, plannedInterpreter, xstateInterpreter } from '../../src/runtime/interpreter/interpreter.ts'
import { plannedMachine } from '../../src/runtime/interpreter/step.ts'
import { planChart } from '../../src/runtime/interpreter/plan.ts'
import { assert, describe } from '../support/suite.ts'

describe('the planned interpreter', (it) => {
  it('has plans for both charts', () => {
    for (const machine of [agentMachine, supervisorMachine] as readonly AnyStateMachine[])
      assert.ok(planChart(machine) !== undefined, machine.id)
  })

  it('has plans for the small chart that it is compared on', () => {
    const seen: boolean[] = []
    const prepare: Interpreter['prepare'] = (machine) => {
      seen.push(planChart(machine) !== undefined)
      return plannedMachine(machine)
    }
    compareWithXState({ ...plannedInterpreter, prepare })
    assert.equal(seen, [true])
  })

  it('does what XState does on a small chart', () => {
    assert.is(compareWithXState(plannedInterpreter), undefined)
  })

  const context = () => ({ count: 0 })
  const charts: Readonly<Record<string, AnyStateMachine>> = {
    'parallel states': createMachine({ context, type: 'parallel', states: { a: {}, b: {} } }),
    history: createMachine({
      context,
      initial: 'a',
      states: { a: { initial: 'x', states: { x: {}, h: { type: 'history' } } } },
    }),
    delays: createMachine({ context, initial: 'a', states: { a: { after: { 10: 'b' } }, b: {} } }),
    'actions of its own': createMachine({ context, initial: 'a', states: { a: { entry: () => {} } } }),
    'an invoke that follows snapshots': createMachine({
      context,
      initial: 'a',
      states: { a: { invoke: { src: 'x', onSnapshot: {} } } },
    }),
  }
  for (const [what, chart] of Object.entries(charts)) {
    it(`leaves a chart with ${what} to XState`, () => {
      const { transition } = chart
      assert.is(plannedMachine(chart), chart)
      assert.is(chart.transition, transition)
    })
  }
})

describe('the comparison with XState', (it) => {
  const faults: Readonly<Record<string, (machine: AnyStateMachine) => AnyStateMachine>> = {
    'loses an event': (machine) => {
      const { transition } = machine
      machine.transition = (before, event, scope) =>
        event.type === 'within' ? before : transition(before, event, scope)
      return machine
    },
    'does what must wait at once': (machine) => {
      const { transition } = machine
      machine.transition = (before, event, scope) =>
        transition(before, event, { ...scope, defer: (effect) => effect() })
      return machine
    },
    throws: () => {
      throw new Error('not this XState')
    },
  }
  for (const [what, prepare] of Object.entries(faults)) {
    it(`tells of an interpreter that ${what}`, () => {
      assert.type(compareWithXState({ ...xstateInterpreter, prepare: prepare as Interpreter['prepare'] }), 'string')
    })
  }
  it('finds nothing wrong with XState itself', () => {
    assert.is(compareWithXState(xstateInterpreter), undefined)
  })
})

describe('an actor system that is inspected', (it) => {
  const chart = () =>
    plannedMachine(
      createMachine({ context: () => ({}), initial: 'a', on: { go: '.b' }, states: { a: {}, b: { always: 'a' } } }),
    )

  it('runs on XState, which tells of microsteps, when its actors are those of XState', () => {
    const seen: string[] = []
    const actor = createActor(chart(), { inspect: ({ type }) => void seen.push(type) })
    actor.start().send({ type: 'go' })
    assert.ok(seen.includes('@xstate.microstep'))
    actor.stop()
  })
  it('does so from the moment that somebody inspects it', () => {
    const seen: string[] = []
    const actor = plannedInterpreter.createActor(chart(), { id: 'chart', input: undefined })
    actor.start()
    actor.send({ type: 'go' })
    actor.system.inspect(({ type }: { readonly type: string }) => void seen.push(type))
    actor.send({ type: 'go' })
    assert.is(seen.filter((type) => type === '@xstate.microstep').length, 2)
    actor.stop()
  })
})
