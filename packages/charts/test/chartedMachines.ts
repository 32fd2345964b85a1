import { setup, type AnyStateMachine } from 'xstate'
import { agentMachine } from '../../../src/machines/agentMachine.ts'
import { supervisorMachine } from '../../../src/machines/supervisorMachine.ts'

/** Words that would be markup or syntax in a picture that did not escape them. */
export const nasty = '</text><script>alert("1")</script>`x` & \'y\' \u0000\u001B[2J\n--> [*] : "z";\uD800'

/** Machine with everything the project's own lack: parallel and history states, timers, combined guards, names that look like syntax. */
const oddMachine = setup({
  guards: { first: () => true, [nasty]: () => true },
  actions: { greet: () => {} },
}).createMachine({
  id: 'odd',
  type: 'parallel',
  states: {
    end: {
      initial: 'a b',
      states: { 'a b': { on: { [nasty]: 'a-b' } }, 'a-b': { after: { 1000: 'past' } }, past: { type: 'history' } },
    },
    [nasty]: { description: nasty, entry: 'greet', on: { GO: { guard: nasty, target: 'end' } } },
  },
})

const emptyMachine = setup({}).createMachine({ id: 'empty' })

export const chartedMachines: Readonly<Record<string, AnyStateMachine>> = {
  'the agent machine': agentMachine,
  'the supervisor machine': supervisorMachine,
  'a machine with parallel states, history and nasty names': oddMachine,
  'a machine without states': emptyMachine,
}
