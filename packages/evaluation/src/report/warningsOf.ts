import { counted } from '../../../charts/src/amounts.ts'
import type { EvaluationHeader, TrialResult } from '../results.ts'
import type { ArmReport, Comparison, Progress, Stopped, Warning } from './report.ts'
import type { TrialTable } from './trialTable.ts'

interface Warned {
  readonly header: EvaluationHeader
  readonly table: TrialTable
  readonly arms: readonly ArmReport[]
  readonly comparisons: readonly Comparison[]
  readonly progress: Progress
  readonly stopped: Stopped | null
}

type Check = (of: Warned) => Warning | undefined

const stoppedBy: Readonly<Record<Stopped['why'], string>> = {
  budget: 'its budget was used up',
  auth: 'the provider refused the key',
  aborted: 'it was aborted',
  changed: 'the suite changed while it was evaluated',
  crashed: 'its process ended',
}

/** Returns true if a program answered in place of a model, in at least one trial. */
export const isEmbedded = ({ model, answeredBy }: Pick<ArmReport, 'model' | 'answeredBy'>): boolean =>
  [model, ...answeredBy].some((id) => id.startsWith('embedded'))

/** Lists names in a sentence, the first ten of them. */
function listed(names: readonly string[]): string {
  const shown = names.slice(0, 10).join(', ')
  return names.length > 10 ? `${shown} and ${names.length - 10} more` : shown
}

const checks: readonly Check[] = [
  ({ progress: { missing, planned }, stopped }) =>
    missing === 0
      ? undefined
      : {
          code: 'INCOMPLETE',
          text: `${missing} of ${counted(planned, 'trial')} are missing${stopped === null ? '' : `: ${stoppedBy[stopped.why]}${stopped.message === undefined ? '' : ` (${stopped.message})`}`}. What is here may not be like the rest.`,
        },
  ({ table, progress: { errors } }) =>
    errors === 0
      ? undefined
      : {
          code: 'ERRORS',
          text: `${counted(errors, 'trial')} ended with an error that is not the agent's doing, and ${errors === 1 ? 'counts' : 'count'} neither as passed nor as failed: ${errorKinds(table.all())}.`,
        },
  ({ header }) => {
    const free = header.tasks.filter(({ passesWithoutWork }) => passesWithoutWork === true)
    return free.length === 0
      ? undefined
      : {
          code: 'PASSES_WITHOUT_WORK',
          text: `${counted(free.length, 'task')} ${free.length === 1 ? 'passes' : 'pass'} before an agent does anything, and ${free.length === 1 ? 'says' : 'say'} nothing of agents: ${listed(free.map(({ id }) => id))}.`,
        }
  },
  ({ arms }) => {
    const embedded = arms.filter(isEmbedded)
    return embedded.length === 0
      ? undefined
      : {
          code: 'EMBEDDED',
          text: `${listed([...new Set(embedded.map(({ model }) => model))])}: an embedded model is a program that solves and fails on purpose. These figures show that the suite works, and say nothing about real models.`,
        }
  },
  ({ arms }) => {
    const moved = arms.filter(({ answeredBy }) => answeredBy.length > 1)
    return moved.length === 0
      ? undefined
      : {
          code: 'ALIAS_MOVED',
          text: `Not one model answered all trials of an arm: ${moved.map(({ name, model, answeredBy }) => `${name} (${model}): ${listed(answeredBy)}`).join('; ')}.`,
        }
  },
  ({ arms }) => {
    const unpriced = arms.filter(({ isPriced }) => !isPriced)
    return unpriced.length === 0
      ? undefined
      : {
          code: 'UNPRICED',
          text: `Prices of ${listed([...new Set(unpriced.map(({ model }) => model))])} are not known, so there are no costs, and a budget is not possible.`,
        }
  },
  ({ header: { tasks } }) =>
    tasks.length === 1
      ? { code: 'ONE_TASK', text: 'There is one task only: no figure says anything about others.' }
      : tasks.length > 1 && tasks.length < 6
        ? {
            code: 'FEW_TASKS',
            text: `With ${tasks.length} tasks intervals are wide, and no difference of costs can be shown: that takes 6 at least.`,
          }
        : undefined,
  ({ header: { trials } }) =>
    trials === 1
      ? { code: 'ONE_TRIAL', text: 'Each task was tried once: nothing is known of how much its outcome varies.' }
      : undefined,
  ({ comparisons }) => {
    const left = comparisons.filter(({ passes }) => passes.leftOut > 0)
    return left.length === 0
      ? undefined
      : {
          code: 'PAIRS_LEFT_OUT',
          text: `Trials without a partner in the other arm are left out of comparisons: ${left.map(({ arm, passes }) => `${arm} ${passes.leftOut}`).join(', ')}.`,
        }
  },
  ({ table }) => {
    const differing = table.all().filter(({ differences = 0 }) => differences > 0)
    return differing.length === 0
      ? undefined
      : {
          code: 'REPLAY_DIFFERS',
          text: `In ${counted(differing.length, 'trial')} of this replay requests were not as recorded, though they were answered as then: figures of ${differing.length === 1 ? 'that trial are' : 'those trials are'} not what a model would have brought about.`,
        }
  },
  ({ table: { strangers } }) =>
    strangers === 0
      ? undefined
      : {
          code: 'UNKNOWN_RESULTS',
          text: `${counted(strangers, 'result')} of other tasks, arms or trials are left out.`,
        },
]

function errorKinds(results: readonly TrialResult[]): string {
  const counts = new Map<string, number>()
  for (const { outcome, error } of results)
    if (outcome === 'error') counts.set(error?.code ?? 'unknown', (counts.get(error?.code ?? 'unknown') ?? 0) + 1)
  return [...counts]
    .toSorted(([, a], [, b]) => b - a)
    .map(([code, count]) => `${code} ${count}`)
    .join(', ')
}

/** Returns the warnings that a reader of the figures must know, the most important first. Pure. */
export const warningsOf = (of: Warned): Warning[] => checks.flatMap((check) => check(of) ?? [])
