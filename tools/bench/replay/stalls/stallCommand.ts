import { prices } from '../measure/prices.ts'
import { allAsked, watch } from './detect.ts'
import { makeLikenesses } from './generate/likenesses/makeLikenesses.ts'
import { makeScenarios } from './generate/makeScenarios.ts'
import { isStalled, sessionOf } from './generate/scenario.ts'
import { climb, compareRecorded, settings, withoutLadder, type Compared } from './ladder.ts'
import type { LabelledRun } from './labelledRun.ts'
import { readRuns } from './readers/readRuns.ts'
import { ladderTable, loopTables, recordedTables } from './report.ts'
import { type Scored, scoreLoops, scoreVerdicts } from './score.ts'

export interface StallOptions {
  /** Made-up runs of each shape. */
  readonly runs: number
  readonly seed: number
  readonly priceName: string
  readonly json: boolean
}

/**
 * How well loops are noticed and what that saves: on made-up runs, whose loops are known, or, if files are given, on recorded ones, whose
 * outcomes are. Gives what is printed.
 *
 * @throws ReplayError for files that have no such runs.
 */
export async function stallCommand(paths: readonly string[], options: StallOptions): Promise<string> {
  const measured = paths.length === 0 ? await measureMade(options) : await measureRecorded(paths, options)
  return options.json ? JSON.stringify(measured.figures, null, 2) : measured.text
}

/** Runs in the likeness of each set, for a run of each shape. */
const runsPerShape = 5

interface Measured {
  readonly figures: unknown
  readonly text: string
}

async function measureMade({ runs, seed, priceName }: StallOptions): Promise<Measured> {
  const ratios = prices[priceName]!
  const scenarios = makeScenarios(runs, seed)
  const scored: Scored[] = []
  for (const [index, scenario] of scenarios.entries()) {
    const session = sessionOf(scenario, `${scenario.kind} ${index}`)
    const loopFrom = isStalled(scenario) ? scenario.before.length : null
    scored.push({ run: { kind: scenario.kind, session, loopFrom }, watched: await watch(session) })
  }
  const byRule = allAsked.map((asked) => ({ name: asked, ...scoreLoops(scored, asked) }))
  const byKind = [...new Set(scored.map(({ run }) => run.kind))].map((kind) => ({
    name: kind,
    ...scoreLoops(
      scored.filter(({ run }) => run.kind === kind),
      'default set',
    ),
  }))
  const off = await withoutLadder(scenarios, ratios)
  const ladders = []
  for (const setting of settings)
    ladders.push({ name: setting.name, ...(await climb(scenarios, off, setting, ratios)) })
  const likenesses = []
  for (const set of makeLikenesses(runs * runsPerShape, seed)) likenesses.push(await measureSet(set, priceName))
  const head = `## ${scenarios.length} generated runs (${runs} of each shape, seed ${seed})`
  return {
    figures: { seed, runs, byRule, byKind, ladders, likenesses },
    text: [
      head,
      ...loopTables(byRule, byKind),
      ladderTable(ladders),
      'Runs in the likeness of recorded sets:',
      ...recordedTables(likenesses),
    ].join('\n\n'),
  }
}

async function measureRecorded(paths: readonly string[], { priceName }: StallOptions): Promise<Measured> {
  const sets = []
  for (const path of paths) sets.push(await measureSet(await readRuns(path), priceName))
  return { figures: sets, text: recordedTables(sets).join('\n\n') }
}

/** Measures runs with verdicts. */
async function measureSet(runs: readonly LabelledRun[], priceName: string) {
  const scored: Scored[] = []
  const compared: (Compared & Pick<LabelledRun, 'verdict'>)[] = []
  for (const run of runs) {
    scored.push({ run, watched: await watch(run.session) })
    compared.push({ ...(await compareRecorded(run.session, prices[priceName]!)), verdict: run.verdict! })
  }
  const byRule = allAsked.map((asked) => ({ rule: asked, ...scoreVerdicts(scored, asked) }))
  return { name: runs[0]!.kind, byRule, failed: costs(compared, 'failed'), passed: costs(compared, 'passed') }
}

export interface Costs {
  readonly runs: number
  readonly costX: number
  /** Half of the runs cost no more than this, none more than that. */
  readonly medianX: number
  readonly dearestX: number
  readonly paused: number
}

function costs(compared: readonly (Compared & Pick<LabelledRun, 'verdict'>)[], verdict: string): Costs {
  const runs = compared.filter((run) => run.verdict === verdict)
  const each = runs.map(({ costX }) => costX).toSorted((a, b) => a - b)
  const sum = (of: (run: Compared) => number): number => runs.reduce((total, run) => total + of(run), 0)
  return {
    runs: runs.length,
    costX: sum(({ on }) => on) / sum(({ off }) => off),
    medianX: each[each.length >> 1] ?? Number.NaN,
    dearestX: each.at(-1) ?? Number.NaN,
    paused: runs.filter(({ isPaused }) => isPaused).length,
  }
}
