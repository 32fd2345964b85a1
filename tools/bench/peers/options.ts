import { parseArgs } from 'node:util'
import { contenderNames, type ContenderName } from './contenders.ts'
import type { WarmUp } from './measure.ts'
import type { Workload } from './workload.ts'
import { workloads } from './workloads.ts'

/** Options of `run.ts`. */
export interface RunOptions {
  readonly rounds: number
  readonly workloads: readonly Workload[]
  readonly contenders: readonly ContenderName[]
  readonly warmUps: readonly WarmUp[]
  /** The core that cells are pinned to; `undefined`: the last one. */
  readonly core?: number
  /** Where every single figure is written. */
  readonly json?: string
  /** Such a file of an earlier run, to be printed in place of a new one. */
  readonly from?: string
  /** Print the table of `docs/performance.md`. */
  readonly isMarkdown: boolean
}

/**
 * Reads the arguments of `run.ts`.
 *
 * @throws Error for an unknown option, name or number, saying what there is.
 */
export function readRunOptions(args: readonly string[]): RunOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string', default: '5' },
      only: { type: 'string' },
      contenders: { type: 'string' },
      warmup: { type: 'string', default: 'short' },
      core: { type: 'string' },
      json: { type: 'string' },
      from: { type: 'string' },
      markdown: { type: 'boolean', default: false },
    },
  })
  return {
    rounds: readCount('--rounds', values.rounds),
    workloads: chooseWorkloads(values.only),
    contenders: chooseContenders(values.contenders),
    warmUps: chooseWarmUps(values.warmup),
    isMarkdown: values.markdown,
    ...(values.core === undefined ? {} : { core: readCount('--core', values.core, 0) }),
    ...(values.json === undefined ? {} : { json: values.json }),
    ...(values.from === undefined ? {} : { from: values.from }),
  }
}

/** Workloads of these names, or whose names begin so: `turn` is those of all lengths. Default: all. */
export function chooseWorkloads(only: string | undefined): readonly Workload[] {
  if (only === undefined) return workloads
  const names = workloads.map(({ name }) => name)
  const wanted = split(only).flatMap((start) => {
    const found = names.includes(start) ? [start] : names.filter((name) => name.startsWith(start))
    if (found.length === 0) throw new Error(`There is no workload "${start}"; there are ${names.join(', ')}.`)
    return found
  })
  return workloads.filter(({ name }) => wanted.includes(name))
}

/** In the order of the table. Default: all. */
export function chooseContenders(names: string | undefined): readonly ContenderName[] {
  if (names === undefined) return contenderNames
  const wanted = split(names)
  for (const name of wanted)
    if (!contenderNames.some((known) => known === name))
      throw new Error(`There is no contender "${name}"; there are ${contenderNames.join(', ')}.`)
  return contenderNames.filter((name) => wanted.includes(name))
}

function chooseWarmUps(text: string): readonly WarmUp[] {
  if (text === 'both') return ['short', 'long']
  if (text === 'short' || text === 'long') return [text]
  throw new Error(`--warmup is short, long or both, not "${text}".`)
}

/** @throws Error unless it is a whole number of at least `least`. */
export function readCount(option: string, text: string, least = 1): number {
  const count = Number(text)
  if (text.trim() === '' || !Number.isSafeInteger(count) || count < least)
    throw new Error(`${option} is a whole number from ${least}, not "${text}".`)
  return count
}

const split = (text: string): readonly string[] =>
  text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')
