import { addressFrom, slugOf } from './slugs.ts'

/** A figure of the start page. */
export interface Figure {
  readonly value: string
  readonly text: string
  /** Where it is from, with what stands there word for word: a test compares. */
  readonly page: string
  readonly hash: string
  readonly quotes: readonly string[]
}

/** Figures that the start page shows. */
export const startFigures: readonly Figure[] = [
  {
    value: '35–40 %',
    text: 'of the cost remains when old steps are folded, in the two replayed coding sessions of more than 400 requests that folding was tuned on; 44–79 % in others of 50 and more.',
    page: 'docs/evidence.md',
    hash: '#two-long-coding-sessions',
    quotes: ['| **fold** | **.260** | **.352** |', '| **fold** | **.267** | **.396** |'],
  },
  {
    value: '52 %',
    text: 'of 272 runs that failed were found to go in circles, and 0.7 % of 762 that passed (InterCode SQL, GPT-4, default rules).',
    page: 'docs/evidence.md',
    hash: '#recorded-runs-whose-outcome-is-known',
    quotes: ['| InterCode SQL, GPT-4 | 272, 762 | 52 / .7 |'],
  },
  {
    value: '0.3 ms',
    text: 'of CPU time per turn, with log, limits and supervision; 2.2 times what pi-agent-core 0.87.1 takes for a loop without them.',
    page: 'docs/performance.md',
    hash: '',
    quotes: ['| turn, in runs of 100, µs/turn | 9.29 | 346 | 127 | 77.3 | 283 | 2.23 |'],
  },
]

/** The figures as a list. Pure. */
export const figures = (slug: string): string =>
  `<ul class="figures">\n${startFigures
    .map(
      ({ value, text, page, hash }) =>
        `<li><a href="${addressFrom(slug, slugOf(page))}${hash}"><strong>${value}</strong> <span>${text}</span></a></li>`,
    )
    .join('\n')}\n</ul>`
