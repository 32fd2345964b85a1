import type { Fault } from '../mutate.ts'

/** Slips that no quick test noticed when another sixty were planted, each next to something that was tested. */
export const faults: readonly Fault[] = [
  {
    id: 'unnoticed2-1',
    file: 'packages/bridge/src/server/subscription.ts',
    what: 'where exactly one record was written elsewhere, a client never gets it',
    from: 'if (event.isLogged && event.seq > this.#cursor + 1) {',
    to: 'if (event.isLogged && event.seq > this.#cursor + 2) {',
    tests: ['server/subscription'],
  },
  {
    id: 'unnoticed2-2',
    file: 'packages/cluster/src/gateway/clientRelay.ts',
    what: 'agents of a worker that is gone stay in the lists of who watches, and are not watched again once it is back',
    from: '    this.#lists.lost(url)\n',
    to: '',
    tests: ['gateway/clientRelay'],
  },
  {
    id: 'unnoticed2-3',
    file: 'packages/postgres/src/worker.ts',
    what: 'a worker whose clock was set back believes that it holds leases that are over',
    from: 'Math.max(clock.now() - at, performance.now() - steady)',
    to: 'clock.now() - at',
    tests: ['postgres/test/worker'],
  },
  {
    id: 'unnoticed2-4',
    file: 'src/runtime/agents/log.ts',
    what: 'an agent whose log another writer has sends its records again',
    from: 'if (this.#failure !== undefined && !this.isLost) {',
    to: 'if (this.#failure !== undefined) {',
    tests: ['runtime/logWriter'],
  },
  {
    id: 'unnoticed2-5',
    file: 'packages/tools/src/remembering/writing.ts',
    what: "a memory of an application's own is told that a conversation confirms what may come from the output of a tool",
    from: 'confirmations: tainted ? [] : [ports.agentId],',
    to: 'confirmations: [ports.agentId],',
    tests: ['actors/memoryScopes'],
  },
]
