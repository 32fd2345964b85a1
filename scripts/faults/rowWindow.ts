import type { Fault } from '../mutate.ts'

const layout = 'src/inspector/model/rowLayout.ts'

/** Slips in lists that have only the rows in view in the document. */
export const faults: readonly Fault[] = [
  {
    id: 'rowWindow-1',
    file: layout,
    what: 'rows below one that was measured stand where they stood',
    from: 'this.#known = Math.min(this.#known, index + 1)',
    to: '',
    tests: ['inspector/rowLayout'],
  },
  {
    id: 'rowWindow-2',
    file: layout,
    what: 'rows that move take the heights of others',
    from: '    this.#known = 1\n  }',
    to: '  }',
    tests: ['inspector/rowLayout'],
  },
]
