import type { Fault } from '../mutate.ts'

/** Slips in a cluster of this machine, in its manifests, and in taking commands to an engine. */
export const faults: readonly Fault[] = [
  {
    id: 'cluster-1',
    file: 'src/cli/cluster/balancer.ts',
    what: 'a request whose worker died looks as if that had said all',
    from: "if (!isWhole()) stream.destroy(new Error('the worker is gone'))",
    to: 'stream.end()',
    tests: ['cli/balancer'],
  },
  {
    id: 'cluster-2',
    file: 'src/cli/cluster/balancer.ts',
    what: 'all requests go to one worker',
    from: '.toSorted((a, b) => a.open - b.open)',
    to: '',
    tests: ['cli/balancer'],
  },
  {
    id: 'cluster-3',
    file: 'src/cli/cluster/balancer.ts',
    what: 'a worker goes on with a request that was given up',
    from: 'if (!request.closed) request.close(NGHTTP2_CANCEL)',
    to: '',
    tests: ['cli/balancer'],
  },
  {
    id: 'cluster-4',
    file: 'src/server/bridge/commandTable.ts',
    what: 'a client commands agents out of its reach, as they are elsewhere',
    from: '      await bridge.agents.checkReach(command.agentId, access)\n',
    to: '',
    tests: ['server/bridge/dispatch'],
  },
  {
    id: 'cluster-5',
    file: 'src/server/bridge/commandTable.ts',
    what: 'commands to an incognito agent go to an engine, which does not know it',
    from: 'bridge.dispatch !== undefined && access.find(command.agentId)?.incognito !== true',
    to: 'bridge.dispatch !== undefined',
    tests: ['server/bridge/dispatch'],
  },
  {
    id: 'cluster-6',
    file: 'src/server/gateway/clientRelay.ts',
    what: 'an agent that another process has taken is read where it was',
    from: '      this.#upstream(route.url).send(command)\n      this.#follow(route)\n',
    to: '      this.#upstream(route.url).send(command)\n',
    tests: ['server/gateway/takenAgents'],
  },
  {
    id: 'cluster-7',
    file: 'examples/cluster/kubernetes.yaml',
    what: 'gateways ask for a token that the secret does not have',
    from: 'secretKeyRef: { name: agents, key: client-token }',
    to: 'secretKeyRef: { name: agents, key: token }',
    tests: ['docs/manifests'],
  },
  {
    id: 'cluster-8',
    file: 'examples/cluster/compose.yaml',
    what: 'the engine is told of workers at another port',
    from: '--url=http://balancer:9080',
    to: '--url=http://balancer:9090',
    tests: ['docs/manifests'],
  },
]
