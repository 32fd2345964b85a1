import type { Fault } from '../mutate.ts'

const driven = 'packages/cluster/src/restate/drivenMachine.ts'
const object = 'packages/cluster/src/restate/agentObject.ts'
const inEngine = ['restate/machines.full']

/** Slips in machines that an engine places. */
export const faults: readonly Fault[] = [
  {
    id: 'placedMachines-1',
    file: 'packages/xstate/src/life.ts',
    what: 'a machine that is taken over leaves its agents to the process that had it',
    from: 'takeOver: actorHosts.get(this.#scope.system)?.takesOver ?? false',
    to: 'takeOver: false',
    tests: ['restate/machinesKilled'],
  },
  {
    id: 'placedMachines-2',
    file: object,
    what: 'a decision for an agent of a machine waits until the machine rests',
    from: 'if (machine !== undefined) return await forward<Nudged>',
    to: 'if (machine?.length === 0) return await forward<Nudged>',
    tests: inEngine,
  },
  {
    id: 'placedMachines-8',
    file: object,
    what: 'an agent of a machine is taken from it by a command',
    from: 'if (machine !== undefined) return await forward<Outcome>',
    to: 'if (machine?.length === 0) return await forward<Outcome>',
    tests: inEngine,
  },
  {
    id: 'placedMachines-3',
    file: driven,
    what: 'the delays of a machine are nobody’s',
    from: 'const all = [first?.due ?? null, ',
    to: 'const all = [',
    tests: ['restate/drivenMachine'],
  },
  {
    id: 'placedMachines-4',
    file: driven,
    what: 'the event by which a machine came to its end is refused when it comes again',
    from: "!hasCode(thrown, 'MACHINE_CLOSED') || !(await this.#around.wasAsked(requestId))",
    to: "!hasCode(thrown, 'NEVER') || !(await this.#around.wasAsked(requestId))",
    tests: ['restate/drivenMachine'],
  },
  {
    id: 'placedMachines-5',
    file: driven,
    what: 'a machine that was closed here counts as refused for good',
    from: "if (!hasCode(reason, 'MACHINE_CLOSED')) return reason",
    to: 'return reason',
    tests: ['restate/drivenMachine'],
  },
  {
    id: 'placedMachines-6',
    file: driven,
    what: 'an agent of a machine with an id of its own is kept, and nobody can place it',
    from: 'if (other === undefined) return',
    to: 'if (other === undefined || other.id.length > 0) return',
    tests: inEngine,
  },
  {
    id: 'placedMachines-7',
    file: 'packages/bridge/src/server/hosts.ts',
    what: 'a server opens a machine for a look, though an engine places it',
    from: 'isPlaced(bridge) ? found.read(bridge.runtime, hostId) : found.open',
    to: 'false ? found.read(bridge.runtime, hostId) : found.open',
    tests: ['bridge/test/server/hosts'],
  },
]
