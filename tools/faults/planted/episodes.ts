import type { Fault } from '../mutate.ts'

const tests = ['journeys/tellsEpisodes']

export const faults: readonly Fault[] = [
  {
    id: 'episodes-1',
    file: 'packages/tools/src/remembering/keepFact.ts',
    what: 'what a model wrote of a run is known, whatever tools said in it',
    from: 'isOfRuntime === true ? place.path.length > 0 : hasHeardMore || mayBeTainted(place)',
    to: 'false',
    tests,
  },
  {
    id: 'episodes-2',
    file: 'packages/tools/src/remembering/recallAtStart.ts',
    what: 'a conversation is told its own episodes',
    from: 'record.source.agentId === ports.agentId || episodes === mostEpisodes',
    to: 'episodes === mostEpisodes',
    tests,
  },
  {
    id: 'episodes-3',
    file: 'packages/tools/src/remembering/recallAtStart.ts',
    what: 'episodes leave no room for facts',
    from: 'record.source.agentId === ports.agentId || episodes === mostEpisodes',
    to: 'record.source.agentId === ports.agentId',
    tests,
  },
  {
    id: 'episodes-4',
    file: 'packages/policies/src/episodes.ts',
    what: 'old episodes are never forgotten',
    from: '    .slice(most)\n',
    to: '    .slice(Infinity)\n',
    tests,
  },
  {
    id: 'episodes-5',
    file: 'packages/policies/src/episodes.ts',
    what: 'the episode of a run is another record each time',
    from: '`${agentId}/${runId}/episode`',
    to: '`${agentId}/${runId}/episode${Math.random()}`',
    tests,
  },
  {
    id: 'episodes-6',
    file: 'packages/policies/src/episodes.ts',
    what: 'the policy rests for five turns after each episode',
    from: '    retryTurns: 1,\n',
    to: '',
    tests,
  },
]
