import type { Fault } from '../mutate.ts'

const rows = 'packages/page/src/inspector/model/search/hitRows.ts'
const search = 'packages/page/src/inspector/model/search/logSearch.ts'
const tests = ['inspector/search/hitRows']

/** Slips in the list of what a search of the page has found. */
export const faults: readonly Fault[] = [
  {
    id: 'hitList-1',
    file: rows,
    what: 'what two tools answered alike stands once, as if one had',
    from: '`${hit.who}\\n${hit.excerpt}`',
    to: 'hit.excerpt',
    tests,
  },
  {
    id: 'hitList-2',
    file: rows,
    what: 'the wrong letters are marked where small letters take more room',
    from: "wanted === '' || lower.length !== text.length",
    to: "wanted === ''",
    tests,
  },
  {
    id: 'hitList-3',
    file: search,
    what: 'the input of a call is told as what the model said',
    from: "kind: 'asked', who",
    to: "kind: 'said', who",
    tests,
  },
  {
    id: 'hitList-4',
    file: rows,
    what: 'failures are found among what tools answered alone',
    from: "filter === 'errors' ? isError : ",
    to: '',
    tests,
  },
]
