import type { Fault } from '../mutate.ts'

/** Slips in the site, in a release, and in what newcomers are told. */
export const faults: readonly Fault[] = [
  {
    id: 'siteRelease-1',
    file: 'tools/site/lighten.ts',
    what: 'data in a page is taken for a script, and is gone from it',
    from: '/<script((?: type="module")?)>',
    to: '/<script([^>]*)>',
    tests: ['site/lighten'],
  },
  {
    id: 'siteRelease-2',
    file: 'tools/site/prepare/readable.ts',
    what: 'a default in the middle of a sentence stays there, and the column says that there is none',
    from: 'ownSentence.exec(text) ?? atEnd.exec(text)',
    to: 'ownSentence.exec(text)',
    tests: ['site/lighten'],
  },
  {
    id: 'siteRelease-3',
    file: 'tools/release/repositoryFields.ts',
    what: 'a folder of this machine is published as the place of the sources',
    from: 'host === undefined ? undefined',
    to: 'host === undefined ? remote',
    tests: ['docs/release.full'],
  },
  {
    id: 'siteRelease-4',
    file: 'src/actors/parts/permissions/judgeCall.ts',
    what: 'people are offered a rule that accepts every plan',
    from: 'call.name === exitPlanName ? [] : suggestRules',
    to: 'suggestRules',
    tests: ['journeys/addsRules'],
  },
  {
    id: 'siteRelease-5',
    file: 'src/runtime/children/detachedAgents.ts',
    what: 'a model is not told that an agent waits for a person',
    from: 'family.totals.waiting.length > 0',
    to: 'family.totals.waiting.length > 1',
    tests: ['journeys/waitsForReports'],
  },
  {
    id: 'siteRelease-6',
    file: 'packages/cli/src/sessions/openWork.ts',
    what: 'an agent of a configuration is told AGENTS.md unasked',
    from: 'config?.agentsMd === true, host',
    to: 'config?.agentsMd !== false, host',
    tests: ['cli/test/readsAgentsMd'],
  },
]
