import type { Report, ReportedTrial } from '../report.ts'

/** Data of the grid of tasks: small, read at once. */
export interface GridData {
  readonly arms: readonly string[]
  readonly trials: number
  readonly tasks: readonly GridTask[]
  /** Number of trials in a block of details. */
  readonly perBlock: number
  /** The page of sessions beside this one. */
  readonly sessions: string | null
}

export interface GridTask {
  readonly id: string
  readonly tags: readonly string[]
  readonly isFree: boolean
  /** Cells in the order of the arms. */
  readonly cells: readonly GridCell[]
}

export interface GridCell {
  /** A letter for each trial: passed, failed, error, or `-` where it is missing. */
  readonly outcomes: string
  readonly costUsd: number | null
  /** Index into `details` of the first trial that is not missing. */
  readonly first: number
}

/** Details of a trial, read when a person looks at it. */
export interface TrialData extends Omit<ReportedTrial, 'agentId'> {
  /** Id of the agent; missing if there is no session to show. */
  readonly agentId?: string
}

const perBlock = 200
/** Maximum characters of answers and reasons in pages of many trials. */
const mostChars = 1_000
const manyTrials = 2_000

/** Returns the data in a report's page. Pure. */
export function pageData(
  report: Report,
  shown: ReadonlySet<string>,
  sessions: string | null,
): { readonly grid: GridData; readonly blocks: readonly (readonly TrialData[])[] } {
  const places = new Map(
    report.results.map((result, index) => [placeOf(result.task, result.arm, result.trial), { result, index }]),
  )
  const tasks = report.tasks.map(({ id, tags, passesWithoutWork, cells }) => ({
    id,
    tags,
    isFree: passesWithoutWork,
    cells: report.arms.map(({ name }, arm): GridCell => {
      const there = Array.from({ length: report.trials }, (_, trial) => places.get(placeOf(id, name, trial)))
      return {
        outcomes: there.map((found) => letterOf(found?.result)).join(''),
        costUsd: cells[arm]!.costUsd,
        first: there.find((found) => found !== undefined)?.index ?? 0,
      }
    }),
  }))
  const isLong = report.results.length > manyTrials
  const all = report.results.map((result) => detailsOf(result, shown, isLong))
  const blocks = Array.from({ length: Math.ceil(all.length / perBlock) }, (_, index) =>
    all.slice(index * perBlock, (index + 1) * perBlock),
  )
  return {
    grid: { arms: report.arms.map(({ name }) => name), trials: report.trials, tasks, perBlock, sessions },
    blocks,
  }
}

const placeOf = (task: string, arm: string, trial: number): string => JSON.stringify([task, arm, trial])

const letterOf = (result: ReportedTrial | undefined): string =>
  result === undefined ? '-' : { passed: 'p', failed: 'f', error: 'e' }[result.outcome]

function detailsOf({ agentId, ...rest }: ReportedTrial, shown: ReadonlySet<string>, isLong: boolean): TrialData {
  const cut = (text: string): string =>
    isLong && text.length > mostChars ? `${text.slice(0, mostChars).toWellFormed()}…` : text
  const scores = rest.scores.map((score) =>
    score.reason === undefined ? score : { ...score, reason: cut(score.reason) },
  )
  return { ...rest, answer: cut(rest.answer), scores, ...(shown.has(agentId) ? { agentId } : {}) }
}
