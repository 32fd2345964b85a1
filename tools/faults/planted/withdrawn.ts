import type { Fault } from '../mutate.ts'

/** Faults in what is done for who is let in no more, in the order of stops behind a gateway, and in answers that are ended at once. */
export const faults: readonly Fault[] = [
  {
    id: 'withdrawn-1',
    file: 'packages/bridge/src/server/commandTable.ts',
    what: 'a command is carried out of a client whose permission was withdrawn while its agent was woken',
    from: "    access.checkAdmitted()\n    if (command.type === 'agent.stop')",
    to: "    if (command.type === 'agent.stop')",
    tests: ['bridge/test/meanwhile/noLongerAdmitted'],
  },
  {
    id: 'withdrawn-2',
    file: 'packages/bridge/src/server/agentAccess.ts',
    what: 'other protocols are given an agent for who was turned away while it was woken',
    from: '    await agent.wake()\n    this.checkAdmitted()\n',
    to: '    await agent.wake()\n',
    tests: ['bridge/test/server/agentAccess'],
  },
  {
    id: 'withdrawn-3',
    file: 'packages/bridge/src/server/admitted.ts',
    what: 'a server that closes carries out what it was about to',
    from: 'if (bridge.isClosed) throw',
    to: 'if (false as boolean) throw',
    tests: ['bridge/test/meanwhile/noLongerAdmitted'],
  },
  {
    id: 'withdrawn-4',
    file: 'packages/bridge/src/server/forkAgent.ts',
    what: 'a fork begins of a client whose token was withdrawn while the source was read',
    from: '    access.checkAdmitted()\n',
    to: '',
    tests: ['bridge/test/server/withdrawn'],
  },
  {
    id: 'withdrawn-5',
    file: 'packages/cluster/src/gateway/gateway.ts',
    what: 'a stop overtakes what it is to stop',
    from: '      await before\n',
    to: '',
    tests: ['cluster/test/gateway/meanwhile'],
  },
  {
    id: 'withdrawn-6',
    file: 'packages/cluster/src/gateway/socketRelay.ts',
    what: 'a run asked for over a socket is not waited for by what stops it',
    from: 'const begun = beginnings.enter({ agentId, who })',
    to: 'const begun = (): void => {}',
    tests: ['cluster/test/gateway/socketRelay'],
  },
  {
    id: 'withdrawn-7',
    file: 'packages/bridge/src/server/httpRoutes.ts',
    what: 'what is ended at once is written at once, so that nobody sees whether it is read',
    from: '    endInPieces(response)\n',
    to: '',
    tests: ['bridge/test/server/endings'],
  },
  {
    id: 'queued-1',
    file: 'packages/ag-ui/src/runView.ts',
    what: 'a client whose run waited for another never sees what that said',
    from: 'this.#hasMissed = true',
    to: '',
    tests: ['packages/ag-ui/test/restart'],
  },
]
