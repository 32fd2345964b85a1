import type { Fault } from '../mutate.ts'

const page = 'packages/page/src/inspector'

export const faults: readonly Fault[] = [
  {
    id: 'hostPages-1',
    file: `${page}/model/hosts/followedHost.ts`,
    what: 'a machine is followed after one has left its view',
    from: '    this.#cancel()\n',
    to: '',
    tests: ['page/test/inspector/hosts/followedHost'],
  },
  {
    id: 'hostPages-2',
    file: `${page}/model/hosts/followedHost.ts`,
    what: 'the page reads the whole log of a machine each time',
    from: 'known === null ? {} : { after: known.seq }',
    to: '{}',
    tests: ['page/test/inspector/hosts/followedHost'],
  },
  {
    id: 'hostPages-3',
    file: 'packages/bridge/src/server/hostHistory.ts',
    what: 'a long log of a machine is told whole',
    from: 'Math.max(after, host.seq - mostRecords) + 1',
    to: 'after + 1',
    tests: ['bridge/test/server/hosts'],
  },
  {
    id: 'hostPages-4',
    file: 'packages/bridge/src/server/hosts.ts',
    what: 'machines that came to their end leave the list',
    from: ', ...ended.values()]',
    to: ']',
    tests: ['bridge/test/server/hosts'],
  },
  {
    id: 'hostPages-5',
    file: 'packages/charts/src/hostWords.ts',
    what: 'only the first of several active states is told',
    from: "activeStates(value).join(' and ')",
    to: "(activeStates(value)[0] ?? '')",
    tests: ['charts/test/hostWords'],
  },
  {
    id: 'hostPages-6',
    file: 'packages/cli/src/sessions/machineStanding.ts',
    what: 'the list of sessions never says what a machine waits for',
    from: "  if (first === undefined) return ''\n",
    to: "  if (first !== undefined || others.length === 0) return ''\n",
    tests: ['cli/test/cliMachines'],
  },
  {
    id: 'hostPages-7',
    file: `${page}/views/charts/chartStage.tsx`,
    what: 'a machine in several states at once has one lit',
    from: '[active, ...also] })',
    to: '[active] })',
    tests: ['page/test/inspector/hosts/hostsInChromium'],
  },
  {
    id: 'hostPages-8',
    file: 'packages/bridge/src/server/agentAccess.ts',
    what: 'machines have no chart',
    from: 'return machine ?? (await',
    to: 'return (await',
    tests: ['bridge/test/server/hosts'],
  },
]
