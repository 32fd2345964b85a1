import type { Fault } from '../mutate.ts'

const layout = 'packages/page/src/inspector/parts/rowLayout.ts'
const window = 'packages/page/src/inspector/parts/rowWindow.ts'
const following = ['inspector/conversation/followingInChromium']

/** Slips in lists that have only the rows in view in the document. */
export const faults: readonly Fault[] = [
  {
    id: 'rowWindow-1',
    file: layout,
    what: 'rows below one that was measured stand where they stood',
    from: 'this.#known = Math.min(this.#known, index + 1)',
    to: '',
    tests: ['page/test/inspector/conversation/rowLayout'],
  },
  {
    id: 'rowWindow-2',
    file: layout,
    what: 'rows that move take the heights of others',
    from: '    this.#known = 1\n  }',
    to: '  }',
    tests: ['page/test/inspector/conversation/rowLayout'],
  },
  {
    id: 'rowWindow-3',
    file: window,
    what: 'rows that come together with the news that the agent has stopped are not followed',
    from: 'this.#isAtEnd && (this.#options.follows || this.#isKept)',
    to: 'this.#isAtEnd && this.#options.follows',
    tests: following,
  },
  {
    id: 'rowWindow-4',
    file: window,
    what: 'who scrolls up is taken back to the end',
    from: 'if (this.#top < this.#placed) this.#leaveEnd()',
    to: 'if (this.#top < this.#placed) this.#isHeld = false',
    tests: following,
  },
]
