import { cutEnd } from '../../../src/protocol/text/cutMiddle.ts'
import { oneLine } from './plainText.ts'

/** Progress of a plan. `at`: `3/7`, the number of the current step, else the next, else all. `step`: its words. */
export interface PlanFacts {
  readonly at: string
  readonly step?: string
}

/** Maximum length of a step's words, in UTF-16 units. */
const mostStepChars = 40

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

interface Step {
  readonly words: string
  readonly is: 'done' | 'underWay' | 'toCome'
}

/** Standing of a step, by the word in its field `status`. */
const standings: Readonly<Record<string, Step['is']>> = {
  done: 'done',
  completed: 'done',
  cancelled: 'done',
  in_progress: 'underWay',
  pending: 'toCome',
}

function stepOf(value: unknown): Step | undefined {
  if (!isObject(value)) return undefined
  const { done, status } = value
  const words = [value['text'], value['title'], value['content']].find((one) => typeof one === 'string')
  const is = typeof done === 'boolean' ? (done ? 'done' : 'toCome') : standings[String(status)]
  return words === undefined || is === undefined ? undefined : { words, is }
}

/** Returns the steps of a list or of a record by id; none if it holds anything else. */
function stepsOf(value: unknown): readonly Step[] {
  if (!isObject(value)) return []
  const steps = Object.values(value).map(stepOf)
  return steps.every((step) => step !== undefined) ? steps : []
}

/**
 * Returns the progress of the plan in an agent's state: steps with `text`, `title` or `content`, and with `done` or a `status`, as a list or by id,
 * in `steps`, `todos` or `plan`, or in the `steps` of `plan`. `undefined` if there are none. Pure.
 */
export function planOf(state: unknown): PlanFacts | undefined {
  if (!isObject(state)) return undefined
  const { steps: own, todos, plan } = state
  const places = [own, todos, plan, isObject(plan) ? plan['steps'] : undefined]
  const steps = places.map(stepsOf).find(({ length }) => length > 0)
  if (steps === undefined) return undefined
  const underWay = steps.findIndex(({ is }) => is === 'underWay')
  const at = underWay === -1 ? steps.findIndex(({ is }) => is === 'toCome') : underWay
  if (at === -1) return { at: `${steps.length}/${steps.length}` }
  return { at: `${at + 1}/${steps.length}`, step: cutEnd(oneLine(steps[at]!.words), mostStepChars) }
}
