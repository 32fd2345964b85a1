import type { Fault } from '../mutate.ts'

/** Slips in how other protocols follow and drive agents that an engine places. */
export const faults: readonly Fault[] = [
  {
    id: 'placed-1',
    file: 'packages/bridge/src/server/agentAccess.ts',
    what: 'other protocols drive agents in the server, past the engine',
    from: 'const isPlaced = dispatch !== undefined && ',
    to: 'const isPlaced = dispatch === null && ',
    tests: ['packages/bridge/test/placedAgents'],
  },
  {
    id: 'placed-2',
    file: 'packages/bridge/src/server/drivenAgent.ts',
    what: 'a run that was cut off is over to a client, though it goes on',
    from: "agent.isPlaced === true && happened.type === 'run.end'",
    to: "agent.isPlaced !== true && happened.type === 'run.end'",
    tests: ['packages/bridge/test/placedAgents'],
  },
  {
    id: 'placed-3',
    file: 'packages/ag-ui/src/threadActivity.ts',
    what: 'the beginning of a reply that was cut off stays beside the one that was given',
    from: "event.type === 'reply.reset' || isCutOff(this.agent, event)",
    to: "event.type === 'reply.reset'",
    tests: ['packages/bridge/test/placedAgents'],
  },
  {
    id: 'placed-4',
    file: 'packages/bridge/src/server/followedTree.ts',
    what: 'what an agent below asks of people is never read',
    from: '      await this.#readLog(child)\n',
    to: '',
    tests: ['packages/bridge/test/placedAgents'],
  },
  {
    id: 'placed-5',
    file: 'packages/ag-ui/src/openRun.ts',
    what: 'a client is not told what the engine refused',
    from: '  await opened.taken\n',
    to: '',
    tests: ['packages/bridge/test/placedAgents'],
  },
]
