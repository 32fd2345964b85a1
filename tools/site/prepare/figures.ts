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
    value: '−54 %',
    text: 'of the cost when old steps are folded, in 80 generated coding sessions of 50 requests and more that nothing was tuned on.',
    page: 'docs/evidence.md',
    hash: '#generated-sessions-by-kind',
    quotes: ['| all | .462 [.413, .527] | .27 [.16, .38] | 8.6 | .345 [.319, .380] |'],
  },
  {
    value: '52 % of failed runs',
    text: 'were found to go in circles, and 0.7 % of those that passed (272 and 762 recorded runs, default rules).',
    page: 'docs/evidence.md',
    hash: '#recorded-runs-whose-outcome-is-known',
    quotes: ['| InterCode SQL, GPT-4 | 272, 762 | 52 / .7 |'],
  },
  {
    value: '0.82 s',
    text: 'took the slowest of 60 prompts when one of two workers was killed; 0.71 s when none was. The other goes on from the log.',
    page: 'docs/scale.md',
    hash: '#costs',
    quotes: ['| slowest of 60 prompts of 20 agents, one of two workers killed (undisturbed) | 0.82 s (0.71 s) |'],
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
