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
    value: '46 %',
    text: 'of the cost remains when old steps are folded, in 80 generated coding sessions of 50 requests and more that nothing was tuned on (32–74 % by kind); 35 % if tools are found on demand as well.',
    page: 'docs/evidence.md',
    hash: '#generated-sessions-by-kind',
    quotes: ['| all | .462 [.413, .527] | .27 [.16, .38] | 8.6 | .345 [.319, .380] |'],
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
