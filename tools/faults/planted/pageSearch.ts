import type { Fault } from '../mutate.ts'

const search = 'packages/page/src/inspector/model/search/search.ts'
const tests = ['inspector/search/search.full.test']

/** Slips in the search of the page. */
export const faults: readonly Fault[] = [
  {
    id: 'pageSearch-1',
    file: 'packages/page/src/inspector/model/search/logSearch.ts',
    what: 'what was found in large and small letters is not the same',
    from: 'text.toLowerCase().indexOf(wanted)',
    to: 'text.indexOf(wanted)',
    tests,
  },
  {
    id: 'pageSearch-2',
    file: search,
    what: 'only the children of the agent are read, not theirs',
    from: 'waiting.unshift(...new Set(children))',
    to: 'if (id === agentId) waiting.unshift(...new Set(children))',
    tests,
  },
  {
    id: 'pageSearch-3',
    file: search,
    what: 'a hit in another agent of the tree begins the search anew',
    from: 'this.#tree = [...known]',
    to: 'void known',
    tests,
  },
  {
    id: 'pageSearch-4',
    file: search,
    what: 'a tree of any size is read',
    from: 'read >= this.#limits.agents ||',
    to: '',
    tests,
  },
  {
    id: 'pageSearch-5',
    file: 'packages/page/src/inspector/model/search/logSearch.ts',
    what: 'a log is looked through in one go',
    from: 'this.#next < count && left > 0',
    to: 'this.#next < count',
    tests,
  },
]
