import { bootstrap } from '../../../../packages/evaluation/src/statistics/bootstrap.ts'
import type { ByKind, KindRow, Sample } from '../byKind.ts'
import { aligned } from './table.ts'

const seed = 1

interface Figure {
  readonly value: number
  readonly low: number | null
  readonly high: number | null
}

/** A ratio of sums over samples, with its interval over them. */
function ratio(
  samples: readonly Sample[],
  over: (sample: Sample) => number,
  under: (sample: Sample) => number,
): Figure {
  const [a, b] = [samples.map(over), samples.map(under)]
  const of = (times: (index: number) => number): number => {
    const sum = (values: readonly number[]): number =>
      values.reduce((all, value, index) => all + value * times(index), 0)
    return sum(a) / Math.max(1e-9, sum(b))
  }
  const interval = bootstrap(samples.length, (drawn) => of((index) => drawn[index]!), seed)
  return { value: of(() => 1), low: interval?.low ?? null, high: interval?.high ?? null }
}

export const costX = (samples: readonly Sample[]): Figure =>
  ratio(
    samples,
    ({ cost }) => cost,
    ({ unmanaged }) => unmanaged,
  )

export const dangling = (samples: readonly Sample[]): Figure =>
  ratio(
    samples,
    ({ measures }) => 100 * measures.dangling,
    ({ measures }) => measures.met,
  )

const indexOnly = (samples: readonly Sample[]): Figure =>
  ratio(
    samples,
    ({ measures }) => 100 * measures.indexOnly,
    ({ measures }) => measures.met,
  )

const words = ({ value, low, high }: Figure, digits: number): string =>
  low === null || high === null
    ? value.toFixed(digits)
    : `${value.toFixed(digits)} [${low.toFixed(digits)}, ${high.toFixed(digits)}]`

const columns: readonly (readonly [heading: string, cell: (row: KindRow) => string])[] = [
  ['kind', ({ kind }) => kind],
  ['n', ({ samples }) => String(samples.fold.length)],
  ['requests', ({ samples }) => String(median(samples.fold.map(({ requests }) => requests)))],
  ['fold: cost ×', ({ samples }) => words(costX(samples.fold), 3)],
  ['dangling %', ({ samples }) => words(dangling(samples.fold), 2)],
  ['index only %', ({ samples }) => words(indexOnly(samples.fold), 1)],
  ['fold, frame on demand: cost ×', ({ samples }) => words(costX(samples.foldOnDemand), 3)],
  ['dangling % ', ({ samples }) => words(dangling(samples.foldOnDemand), 2)],
  ['only on demand: cost ×', ({ samples }) => words(costX(samples.onDemand), 3)],
  ['no cache, fold: cost ×', ({ samples }) => words(costX(samples.foldUncached), 3)],
  ['dangling %  ', ({ samples }) => words(dangling(samples.foldUncached), 2)],
  ['no cache, fold, frame on demand: cost ×', ({ samples }) => words(costX(samples.foldOnDemandUncached), 3)],
  ['dangling %   ', ({ samples }) => words(dangling(samples.foldOnDemandUncached), 2)],
  ['ideal cache, fold: cost ×', ({ samples }) => words(costX(samples.foldIdeal), 3)],
]

/** The tables in Markdown: sessions by kind, recorded ones, and short runs. */
export function kindTables({ long, recorded, short }: ByKind): string {
  const all: KindRow[] = long.length < 2 ? [] : [{ kind: 'all', about: '', samples: pooled(long) }]
  const rows = [...long, ...all, ...recorded]
  const table = aligned([
    columns.map(([heading]) => heading),
    ...rows.map((row) => columns.map(([, cell]) => cell(row))),
  ])
  return [
    table,
    shortTable(short),
    remarksOn(rows.flatMap(({ samples }) => Object.values(samples).flat()).concat(short)),
  ].join('\n\n')
}

const pooled = (rows: readonly KindRow[]): KindRow['samples'] => {
  const of = (name: keyof KindRow['samples']): Sample[] => rows.flatMap(({ samples }) => samples[name])
  return {
    fold: of('fold'),
    foldOnDemand: of('foldOnDemand'),
    onDemand: of('onDemand'),
    foldUncached: of('foldUncached'),
    foldOnDemandUncached: of('foldOnDemandUncached'),
    foldIdeal: of('foldIdeal'),
  }
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
const worst = (samples: readonly Sample[]): Sample | undefined =>
  samples.toSorted((a, b) => b.cost / b.unmanaged - a.cost / a.unmanaged)[0]
const isFolded = ({ measures }: Sample): boolean => Object.keys(measures.breaks).length > 0
const kindOf = ({ session }: Sample): string => session.replace(/-\d+$/, '')

function shortTable(short: readonly Sample[]): string {
  const row = (name: string, samples: readonly Sample[]): string[] => {
    const dearest = worst(samples)
    return [
      name,
      String(samples.length),
      String(samples.filter(isFolded).length),
      costX(samples).value.toFixed(3),
      median(samples.map(({ cost, unmanaged }) => Math.round((1_000 * cost) / unmanaged) / 1_000)).toFixed(3),
      dearest === undefined ? '–' : (dearest.cost / dearest.unmanaged).toFixed(3),
      dearest === undefined ? '–' : `${dearest.session} (${dearest.requests})`,
      dangling(samples).value.toFixed(2),
    ]
  }
  const kinds = Map.groupBy(short, kindOf)
  const head = [
    'under 30 requests',
    'runs',
    'folded',
    'cost × (sum)',
    'median',
    'worst',
    'which (requests)',
    'dangling %',
  ]
  return aligned([head, ...[...kinds].map(([kind, samples]) => row(kind, samples)), row('all', short)])
}

/** Counts over all replays of what would be a defect. */
function remarksOn(samples: readonly Sample[]): string {
  const count = (of: (sample: Sample) => number): number => samples.reduce((sum, sample) => sum + of(sample), 0)
  const failures = samples.flatMap(({ session, measures }) =>
    measures.failure === undefined ? [] : [`${session}: ${measures.failure}`],
  )
  const other = count(({ measures }) => measures.breaks['other'] ?? 0)
  return [
    `${samples.length} replays: ${count(({ measures }) => measures.invalid)} invalid requests, ${count(({ measures }) => measures.usersLost)} messages of people lost, ${other} breaks without a cause, ${failures.length} that ended early.`,
    ...failures.slice(0, 5).map((failure) => `- ${failure}`),
  ].join('\n')
}
